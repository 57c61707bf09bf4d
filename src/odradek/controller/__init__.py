"""The cluster's single decision maker: it alone says who leads, who follows, who is in sync."""
