"""Five made-up web shops with five product categories: pages with a known class and content."""

from example_project.shops.pages import ShopPage, shop_pages

__all__ = ["ShopPage", "shop_pages"]
