"""The product categories of the shops: names, sentences, and lines of the data sheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from example_project.demo.grammar import read_lines, read_pools

MAKERS = ("Norvik", "Halden", "Tamaro", "Corvex", "Lumeno", "Astria", "Pelikon", "Ostberg")


@dataclass(frozen=True, slots=True)
class Category:
    """A kind of product; `sheet` maps labels of the data sheet (`_` for a space) to values."""

    name: str
    title: str
    series: Sequence[str]
    pools: Mapping[str, Sequence[str]]
    sentences: Sequence[str]
    sheet: Mapping[str, Sequence[str]]


_PRAISE = read_pools(
    """
good: solid | convincing | balanced | pleasant | dependable | impressive | sensible | remarkable
person: students | families | travellers | beginners | demanding users | small offices | commuters
"""
)

# Sentences that fit any product, so that classes share words.
COMMON = read_lines(
    """
- At this price the {good} workmanship comes as a surprise.
- {maker} gives the housing a {good} finish that stays clean in daily use.
- The manual is short, and {person} will find their way without it.
- For {person} it is a {good} choice, for others there are larger models.
- The box holds a charger, a cable and a printed guide in nine languages.
- Compared with last year's model, the weight has fallen by {percent} per cent.
- In our test it ran for {dozens} hours without a fault.
- The menu is clear, the keys have a {good} feel, and the display stays readable in the sun.
- Setup took {few} minutes, including the update over the network.
- Those who bought the older {maker} can keep their accessories.
"""
)


def _category(name: str, title: str, series: str, pools: str, text: str, sheet: str) -> Category:
    return Category(
        name, title, series.split(), {**_PRAISE, **read_pools(pools)}, read_lines(text),
        read_pools(sheet),
    )  # fmt: skip


CATEGORIES = (
    _category(
        "notebook",
        "Notebooks",
        "Wayfarer Slate Aero Studybook Lucerne",
        """
part: keyboard | touchpad | hinge | processor | cooling fan | memory | solid-state drive | webcam
task: spreadsheets | video calls | programming | office work | light games | photo archives
port: two USB ports | a card reader | an HDMI socket | a network socket | a docking connector
""",
        """
- The {part} of this notebook is made for {task}, and the {part2} keeps up.
- With {few} gigabytes of memory the laptop opens {task} without a pause.
- The battery lasts {few} hours of {task} before the notebook asks for its power supply.
- On the left side there are {port}, on the right {port2}.
- Under full load the processor clocks down early, and the cooling fan is heard.
- The keyboard has a firm stroke, the touchpad reads every gesture.
- The lid opens with one hand and the hinge holds the screen at any angle.
- Windows boots from the solid-state drive in {few} seconds.
- Laptop and power supply together weigh less than many a textbook.
- The graphics chip shares its memory with the processor, enough for {task}.
- {person} type whole theses on this keyboard and carry the laptop in any bag.
- The {part} can be replaced after removing {few} screws from the base.
""",
        """
processor: dual-core 2.4 GHz | quad-core 2.8 GHz | quad-core 3.2 GHz | six-core 2.6 GHz
memory: 4 GB | 8 GB | 16 GB | 32 GB
drive: 256 GB solid state | 512 GB solid state | 1 TB hard disk
display: 13.3 inch matt | 14 inch matt | 15.6 inch glossy | 17.3 inch matt
operating_system: Windows Home | Windows Professional | Linux | none
graphics: integrated | dedicated 2 GB | dedicated 4 GB
battery: 3 cells, 42 Wh | 4 cells, 56 Wh | 6 cells, 70 Wh
weight: 1.1 kg | 1.4 kg | 1.9 kg | 2.3 kg
keyboard: backlit | spill-proof | standard
""",
    ),
    _category(
        "camera",
        "Digital Cameras",
        "Optara Viewmaster Solaris Picta Kestrel",
        """
part: lens | shutter | viewfinder | image sensor | autofocus | flash | image stabiliser | zoom
task: portraits | landscapes | wildlife | sports shots | night scenes | macro pictures
port: the pop-up flash | the hot shoe | the mode dial | the tripod thread | the memory card slot
""",
        """
- The {part} of this camera suits {task}, and the {part2} is just as quick.
- At {hundreds} millimetres the zoom brings {task} close without visible blur.
- The sensor resolves {dozens} megapixels and keeps noise low up to high ISO values.
- {port} sits where photographers expect it, close to {port2}.
- Autofocus finds faces and eyes, even against the light.
- The image stabiliser gains three stops of exposure time for {task}.
- In burst mode the shutter takes {few} pictures a second in raw format.
- The lens opens to f/2.8 at wide angle, which makes for soft backgrounds.
- One charge is good for {hundreds} photos with flash.
- Colours of {task} are natural, and white balance errs only under neon lamps.
- {person} will like the viewfinder, which shows aperture and exposure at a glance.
- The {part} is protected against dust and the spray of the sea.
""",
        """
resolution: 12 megapixels | 16 megapixels | 20 megapixels | 24 megapixels
sensor: CMOS 1/2.3 inch | CMOS 1 inch | APS-C | full frame
optical_zoom: 3x | 5x | 12x | 30x
aperture: f/1.8 to f/4.0 | f/2.8 to f/5.9 | f/3.5 to f/6.3
shutter_speed: 30 s to 1/2000 s | 15 s to 1/4000 s | 60 s to 1/8000 s
sensitivity: ISO 100 to 3200 | ISO 100 to 12800 | ISO 64 to 25600
viewfinder: optical | electronic | none
memory_card: SD | SDHC | CompactFlash
weight: 0.2 kg | 0.3 kg | 0.5 kg | 0.8 kg
""",
    ),
    _category(
        "phone",
        "Mobile Phones",
        "Pulse Echo Meridian Tango Nimbus",
        """
part: touch screen | loudspeaker | SIM tray | fingerprint reader | antenna | vibration motor
task: messages | calls | music | video chats | navigation | social networks
port: the headset socket | the volume keys | the charging port | the mute switch
""",
        """
- The {part} of this phone is tuned for {task}, the {part2} less so.
- Calls sound clear on both ends, and the antenna holds the network in cellars.
- Standby time is {hundreds} hours, talk time {few} hours.
- {port} is easy to find in the pocket, and so is {port2}.
- The handset takes two SIM cards and roams in every band of the operator.
- Ringtones and contacts move over from an old mobile phone by Bluetooth.
- The smartphone unlocks by fingerprint in less than a second.
- Android runs without the usual extra apps, and updates are promised for three years.
- A prepaid card of any operator works, because the handset has no SIM lock.
- The touch screen reacts at once, even to {task} with gloves on.
- {person} get through two days of {task} on one charge.
- Apps for {task} come from the store and can be moved to a card.
""",
        """
network: GSM, UMTS | GSM, UMTS, LTE | LTE, 5G
SIM: single, nano | dual, nano | dual, one of them eSIM
touch_screen: 4.7 inch | 5.5 inch | 6.1 inch | 6.7 inch
system: Android 11 | Android 12 | Android 13
talk_time: 9 hours | 14 hours | 22 hours
standby: 240 hours | 360 hours | 520 hours
ringtones: polyphonic | free choice
wireless: Bluetooth, WLAN | Bluetooth, WLAN, NFC
weight: 0.14 kg | 0.17 kg | 0.20 kg
""",
    ),
    _category(
        "printer",
        "Printers",
        "Scriba Folio Presto Inkwell Duplo",
        """
part: paper tray | toner cartridge | print head | duplex unit | scanner lid | document feeder
task: letters | invoices | leaflets | labels | envelopes | overhead transparencies
port: the parallel port | the paper cassette | the control panel | the manual feed
""",
        """
- The {part} of this printer is laid out for {task}, the {part2} for more.
- It prints {dozens} pages a minute in draft mode and half of that in duplex.
- A toner cartridge yields {thousands} pages at five per cent coverage.
- {port} is reached from the front, {port2} from behind.
- Text from the laser is crisp at 1200 dots per inch, and photos from ink stay pale.
- The first page of {task} leaves the tray after {few} seconds.
- Paper jams were rare: {few} sheets in a whole carton of recycled paper.
- Ink is sold in single colours, which saves money on {task}.
- The scanner copies at the push of a button, also without the computer.
- Cost a page is low, since drum and toner are changed apart.
- {person} who print {task} every day should order the second paper tray.
- The {part} can be cleaned from the control panel, at the cost of some ink.
""",
        """
technology: laser, black | laser, colour | inkjet, four colours | inkjet, six colours
resolution: 600 dpi | 1200 dpi | 4800 dpi
print_speed: 12 pages a minute | 20 pages a minute | 34 pages a minute
paper_tray: 100 sheets | 250 sheets | 550 sheets
paper_sizes: A4, A5 | A3, A4, A5 | A4, legal, envelopes
duplex: automatic | manual
cartridge_yield: 700 pages | 1,500 pages | 6,000 pages
interfaces: USB | USB, Ethernet | USB, WLAN
weight: 4 kg | 8 kg | 14 kg
""",
    ),
    _category(
        "television",
        "Televisions",
        "Panorama Vista Horizon Belvedere Aurora",
        """
part: panel | tuner | backlight | remote control | sound bar | picture processor | stand
task: films | football | news broadcasts | games consoles | concerts | series
port: three HDMI inputs | a satellite socket | an antenna socket | an optical audio output
""",
        """
- The {part} of this television shows its strength with {task}, helped by the {part2}.
- Black is deep, and the backlight dims in {hundreds} zones.
- The tuner receives cable, satellite and terrestrial channels in high definition.
- On the back there are {port} and {port2}.
- Fast movement in {task} stays sharp at a refresh rate of 100 hertz.
- Sound comes from two loudspeakers and fills a living room of {few} square metres.
- Channels are sorted from the remote control, and the programme guide covers a week.
- The screen reflects lamps, so the set belongs away from the window.
- Recordings of {task} go to a USB disk and can be watched with a delay.
- On the wall the set needs a bracket with four screws, on a sideboard the stand will do.
- {person} watch {task} from the sofa without seeing single pixels.
- The {part} draws {dozens} watts while {task} are on.
""",
        """
screen_diagonal: 32 inch | 43 inch | 55 inch | 65 inch
panel: LCD with LED backlight | OLED | plasma
picture: full HD | 4K | HD ready
refresh_rate: 50 hertz | 100 hertz | 120 hertz
tuner: cable, antenna | cable, satellite, antenna
HDMI_inputs: two | three | four
loudspeakers: 2 x 10 watts | 2 x 20 watts
wall_mount: 200 x 200 | 400 x 400
weight: 6 kg | 11 kg | 19 kg | 26 kg
""",
    ),
)
