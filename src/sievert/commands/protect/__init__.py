"""`sievert protect`: the release that meets a policy at the least loss."""
