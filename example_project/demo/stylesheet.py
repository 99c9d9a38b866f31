"""The style sheet of the demo newspaper, embedded in every page."""

COURIER_CSS = """
:root{--ink:#1c2430;--soft:#5d6876;--line:#dde2e8;--accent:#0b5d6b;--paper:#fbfaf7}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);
font:18px/1.6 Georgia,"Times New Roman",serif}
a{color:inherit}
h1,h2,h3{line-height:1.2;margin:0 0 .5em}
h1{font-size:2.3rem}
img{max-width:100%;height:auto;display:block}
.skip{position:absolute;left:-999px}
.site-header{background:#fff;border-bottom:1px solid var(--line)}
.brand-row,.site-nav ul,.layout,.crumbs,.foot-cols,.legal,.longread-body,.billboard,.live,.review,
.strip
{max-width:1160px;margin:0 auto;padding:0 20px}
.brand-row{display:flex;align-items:baseline;gap:20px;padding-top:16px;padding-bottom:10px}
.brand{font-size:2rem;font-weight:700;text-decoration:none;letter-spacing:-.02em}
.claim,.tide,.tools,.site-nav,.crumbs,.byline,.tags,.share,.box,.ad,.site-footer,figcaption,
.cookie,.comments,.teaser-meta,.pager,form{font-family:system-ui,Helvetica,Arial,sans-serif;
font-size:.84rem}
.claim,.tide{color:var(--soft)}
.tools{margin-left:auto;display:flex;gap:12px}
.site-nav{background:var(--accent);color:#fff}
.site-nav ul{display:flex;gap:24px;list-style:none}
.site-nav a{display:block;padding:10px 0;text-decoration:none;font-weight:600}
.crumbs{list-style:none;display:flex;gap:10px;padding-top:14px;color:var(--soft)}
.layout{display:grid;grid-template-columns:minmax(0,1fr) 300px;gap:48px;padding-top:20px}
.standfirst{font-size:1.25rem;color:#39434f;line-height:1.45}
.kicker{text-transform:uppercase;letter-spacing:.08em;color:var(--accent);
font:700 .78rem system-ui,sans-serif}
.byline{color:var(--soft);display:flex;flex-wrap:wrap;gap:14px;margin:14px 0}
.share{display:flex;gap:8px;list-style:none;padding:0;margin:0 0 20px}
button{font:inherit;border:1px solid var(--line);background:#fff;border-radius:4px;padding:5px 12px}
figure{margin:0 0 24px}
figcaption{color:var(--soft);padding-top:6px}
.ad{background:#f1eee4;border:1px solid #e2dcc8;padding:14px 18px;margin:22px 0}
.ad span{display:block;font-size:.68rem;text-transform:uppercase;color:#8a836b}
.billboard{padding-top:10px}
.newsletter,.read-also{border-left:4px solid var(--accent);padding:6px 16px;background:#eef5f5;
font-size:1rem}
.box{border-top:3px solid var(--ink);padding-top:10px;margin-bottom:34px}
.box h2,.box h3{font-size:1.02rem}
.box ol,.box ul{padding-left:20px;margin:0}
.box li{margin-bottom:10px}
.tags{display:flex;gap:8px;flex-wrap:wrap;padding:0;list-style:none;margin:26px 0}
.tags a{background:#e8edf0;border-radius:20px;padding:4px 12px;text-decoration:none}
.comments{border-top:1px solid var(--line);margin-top:32px;padding-top:14px}
.comment{border-bottom:1px solid var(--line);padding:10px 0}
.teaser{border-bottom:1px solid var(--line);padding:18px 0;display:grid;
grid-template-columns:190px 1fr;gap:20px}
.teaser h2{font-size:1.3rem}.teaser a{text-decoration:none}.teaser p{margin:0}
.longread-hero{background:#1c2d36;color:#fff;padding:70px 20px;text-align:center}
.longread-hero h1{font-size:3rem;max-width:900px;margin:0 auto .4em}
.longread-hero .standfirst{color:#d7e2e4;max-width:720px;margin:0 auto}
.longread-body{max-width:740px;padding-top:36px;font-size:1.1rem}
.longread-body blockquote{font-size:1.5rem;font-style:italic;border:0;margin:36px 0;
color:var(--accent)}
.live,.review{max-width:820px;padding-top:20px}
.live-points{background:#fff;border:1px solid var(--line);padding:16px 20px}
.entry{border-left:3px solid #c0392b;padding-left:20px;margin:30px 0}
.entry time{font:700 .85rem system-ui,sans-serif;color:#c0392b}
.rating{width:100%;border-collapse:collapse;background:#fff;margin:26px 0}
.rating th,.rating td{border:1px solid var(--line);padding:8px 12px;text-align:left}
.verdict{background:var(--accent);color:#fff;padding:16px 22px;font-size:1.15rem}
.site-footer{background:#1c2430;color:#cfd6dd;margin-top:60px;padding:34px 0}
.foot-cols{display:flex;gap:70px}.foot-cols ul{list-style:none;padding:0}
.legal{border-top:1px solid #3c4653;padding-top:14px;color:#98a3ae}
.cookie{position:fixed;bottom:0;left:0;right:0;background:#fff;border-top:2px solid var(--accent);
padding:12px 24px;display:flex;gap:14px;align-items:center}
.pager{display:flex;justify-content:space-between;padding:20px 0}
@media(max-width:860px){.layout{grid-template-columns:1fr}.teaser{grid-template-columns:1fr}}
"""
