from logging import getLogger

log = getLogger("flwr").log
