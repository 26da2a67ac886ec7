class ServerApp:
    def __init__(self, server_fn):
        self.server_fn = server_fn


class ServerAppComponents:
    pass


class ServerConfig:
    pass
