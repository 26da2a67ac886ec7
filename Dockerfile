# JupyterLab with the notebooks, everything set up when the image is built:
#
#   docker build --tag lethe .
#   docker run --rm --publish 8888:8888 lethe
#
# It prints the address to open. Add --volume lethe:/home/reader/.cache/lethe/runs
# to keep what was computed.
FROM golang:1.26.8-bookworm

RUN apt-get update \
    && apt-get install --yes --no-install-recommends python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*

RUN useradd --create-home reader \
    && install --directory --owner reader --group reader /home/reader/lethe
USER reader
# A volume there belongs to the reader, as this folder does, and not to root.
RUN mkdir -p /home/reader/.cache/lethe/runs
WORKDIR /home/reader/lethe
COPY --chown=reader:reader . .

RUN go build -o /home/reader/bin/lethe . && /home/reader/bin/lethe install
ENV PATH=/home/reader/bin:$PATH

EXPOSE 8888
CMD ["lethe", "lab", "--ip", "0.0.0.0", "--port", "8888", "--no-browser"]
