"""Controllers: loops of the server's own that bring things about. Off with ``--controllers=``, but for those that
kube-apiserver runs itself."""
