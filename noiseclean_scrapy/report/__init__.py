"""The inspector: reports on sites and pages as HTML documents that need nothing else."""

from noiseclean_scrapy.report.fragments import cleaner_fragment, page_fragment
from noiseclean_scrapy.report.page import page_report
from noiseclean_scrapy.report.site import site_report

__all__ = ["cleaner_fragment", "page_fragment", "page_report", "site_report"]
