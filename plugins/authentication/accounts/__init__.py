"""What the claims of service account tokens mean, for the authenticator ``service-account-tokens``."""
