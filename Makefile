# `make book` builds the book, `make test` checks everything; both make the environment first when it is missing.
# TORCH_INDEX=URL chooses another build of torch, for example one for your GPU. PYTHON=... chooses the interpreter.

PYTHON ?= $(firstword $(foreach name,python3 python3.14 python3.13 python3.12 python3.11,\
	$(shell $(name) -c 'import sys; sys.version_info >= (3, 11) and print("$(name)")' 2>/dev/null)) python3)
VENV := .venv
RUN := $(VENV)/bin/python -m
READY := $(VENV)/ready

.PHONY: book test serve colab export hardening gpu-records vendor lock clean

book: $(READY)
	@$(RUN) tools.site build

test: $(READY)
	@$(RUN) tools.check

serve: $(READY)
	@$(RUN) tools.site serve

colab: $(READY)
	@$(RUN) tools.colab

export: $(READY)
	@$(RUN) tools.export

# Fifty kills at random moments, each resumed; the record says what was lost.
hardening: $(READY)
	@OMP_NUM_THREADS=1 $(RUN) tests.kills 50 benchmarks/results/hardening.json

# On a machine with a large GPU, whose own Python has PyTorch: no environment is made. `tools/gpu_records.py` says more.
gpu-records:
	@$(PYTHON) -m tools.gpu_records $(STAGE) $(if $(DATA),--data $(DATA)) $(if $(OUT),--out $(OUT)) $(if $(UPDATES),--updates $(UPDATES))

vendor:
	@$(PYTHON) -m tools.vendor

# Torch comes first and alone, so that an index of its builds is asked for nothing else.
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit("Python 3.11 or newer is needed; $(PYTHON) is %d.%d. Name another: make PYTHON=python3.12 ..." % v[:2])'
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --no-deps --constraint constraints.txt $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) torch
	$(VENV)/bin/pip install --quiet --constraint constraints.txt --editable '.[book,test]'
	@touch $@

# Write the versions that are installed now to constraints.txt: run it in a fresh environment after a change of requirements.
lock:
	@$(RUN) tools.lock

clean:
	rm -rf _build build dist jupyter_execute *.egg-info .pytest_cache .ruff_cache .import_linter_cache .hypothesis
