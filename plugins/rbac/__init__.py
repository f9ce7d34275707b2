"""What rules of roles cover of each other: for who writes roles and for what every cluster has of them."""
