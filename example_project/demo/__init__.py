"""The demo newspaper: a made-up news site with known content, and a server for it."""

from example_project.demo.model import DemoPage
from example_project.demo.server import DemoServer
from example_project.demo.site import DemoSite

__all__ = ["DemoPage", "DemoServer", "DemoSite"]
