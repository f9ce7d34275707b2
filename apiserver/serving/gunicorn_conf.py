"""Settings for people who run gunicorn themselves.

``gunicorn -c python:apiserver.serving.gunicorn_conf apiserver.wsgi:app``

They are those of ``apiserver serve``, read from the environment (``APISERVER_*``) and the file that
``APISERVER_CONFIG`` names; gunicorn's own flags override them. The kubeconfig is written and the line for people
printed as ``apiserver serve`` does.
"""

from __future__ import annotations

from apiserver import configure
from apiserver.serving import preparation

_config = configure.current().config
preparation.set_up_logs(_config)
_prepared = preparation.prepare(_config)

bind = preparation.address(_config)
wsgi_app = "apiserver.wsgi:app"
globals().update(preparation.gunicorn_settings(_prepared))
