"""Settings of the example project: the add-on, and polite crawling."""

BOT_NAME = "example_project"
SPIDER_MODULES = ["example_project.spiders"]

ADDONS = {"noiseclean_scrapy.Addon": 300}
NOISECLEAN_DATABASE_URL = "sqlite:///noiseclean-demo.db"

ROBOTSTXT_OBEY = True
USER_AGENT = "noiseclean-example (+https://pypi.org/project/noiseclean-scrapy/)"
AUTOTHROTTLE_ENABLED = True
CONCURRENT_REQUESTS_PER_DOMAIN = 2
DOWNLOAD_DELAY = 0.5

LOG_LEVEL = "INFO"
LOG_VERSIONS: list[str] = []
FEED_EXPORT_ENCODING = "utf-8"
TELNETCONSOLE_ENABLED = False
