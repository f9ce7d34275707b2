"""What objects use of what ResourceQuotas limit: for the controller that tells it and for admission that refuses."""
