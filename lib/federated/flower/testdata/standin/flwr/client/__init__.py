class NumPyClient:
    pass


class ClientApp:
    def __init__(self, client_fn):
        self.client_fn = client_fn
