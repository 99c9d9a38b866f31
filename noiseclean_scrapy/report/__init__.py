"""The inspector: reports on sites and pages as HTML documents that need nothing else."""

from noiseclean_scrapy.report.page_view import page_report
from noiseclean_scrapy.report.site_report import site_report

__all__ = ["page_report", "site_report"]
