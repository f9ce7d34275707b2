"""Serving: the gunicorn worker class with its watch hub, gunicorn settings, certificates and kubeconfig.

``worker.HubWorker`` is what gunicorn runs. It accepts connections and gives them to three parts: ``http1`` (one
request after the other, on threads of ``pool``), ``hub`` (connections that wait for something, and open watches) and
``connection`` (one socket, with or without TLS). ``launcher`` starts gunicorn for ``apiserver serve``;
``gunicorn_conf`` holds the same settings for people who run gunicorn themselves.
"""
