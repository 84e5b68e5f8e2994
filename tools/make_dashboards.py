#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the Grafana dashboards of deploy/grafana from the tables in tools/dashboards.toml.

    tools/make_dashboards.py            writes the files
    tools/make_dashboards.py --check    exits with 1 if a file differs from what would be written
"""

import json
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "deploy" / "grafana"
TABLE = ROOT / "tools" / "dashboards.toml"
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
COLUMNS = 24  # the width of Grafana's grid
WIDTHS = {"stat": 6, "timeseries": 12}
HEIGHTS = {"stat": 4, "timeseries": 8}


def variable(name: str, label: str, query: str) -> dict:
    """Returns a variable whose values are those of a label; "All" is the default."""
    return {"name": name, "label": label, "type": "query", "datasource": SOURCE,
            "query": {"query": query, "refId": name}, "definition": query,
            "refresh": 2, "sort": 1, "multi": True, "includeAll": True, "allValue": ".*",
            "current": {"selected": True, "text": ["All"], "value": ["$__all"]}}


def variables(of_models: bool) -> list:
    found = [{"name": "datasource", "label": "Data source", "type": "datasource",
              "query": "prometheus", "current": {}},
             variable("instance", "Server", "label_values(nv_cpu_utilization, instance)")]
    if of_models:
        found.append(variable("model", "Model", "label_values("
                              'nv_inference_request_success{instance=~"$instance"}, model)'))
    return found


def panel(number: int, row: dict, x: int, y: int) -> dict:
    kind = row.get("kind", "timeseries")
    targets = [{"refId": chr(ord("A") + i), "datasource": SOURCE, "expr": query["expr"],
                "legendFormat": query.get("legend", "__auto"), "range": kind != "stat",
                "instant": kind == "stat"} for i, query in enumerate(row["queries"])]
    defaults = {"unit": row["unit"]}
    if "max" in row:
        defaults |= {"min": 0, "max": row["max"]}
    if kind == "timeseries":
        defaults["custom"] = {"fillOpacity": 10, "showPoints": "never",
                              "stacking": {"mode": row.get("stacking", "none")}}
        options = {"legend": {"displayMode": "list", "placement": "bottom"},
                   "tooltip": {"mode": "multi", "sort": "desc"}}
    else:
        steps = [{"color": "green", "value": None}]
        if row.get("zero_is_good"):
            steps.append({"color": "red", "value": 1})
        defaults["thresholds"] = {"mode": "absolute", "steps": steps}
        options = {"reduceOptions": {"calcs": ["lastNotNull"]}, "colorMode": "value"}
    return {"id": number, "type": kind, "title": row["title"], "description": row["description"],
            "datasource": SOURCE, "targets": targets, "options": options,
            "fieldConfig": {"defaults": defaults, "overrides": []},
            "gridPos": {"x": x, "y": y, "w": WIDTHS[kind], "h": HEIGHTS[kind]}}


def panels(rows: list) -> list:
    """Places the panels from left to right; a panel of another height begins a new line."""
    placed, x, y, height = [], 0, 0, 0
    for number, row in enumerate(rows, 1):
        kind = row.get("kind", "timeseries")
        if x and (x + WIDTHS[kind] > COLUMNS or HEIGHTS[kind] != height):
            x, y = 0, y + height
        height = HEIGHTS[kind]
        placed.append(panel(number, row, x, y))
        x += WIDTHS[kind]
    return placed


def dashboard(name: str, table: dict) -> str:
    document = {
        "uid": f"nereid-{name}".replace("_", "-"), "title": f"Nereid / {table['title']}",
        "description": table["description"], "tags": ["nereid"], "schemaVersion": 38, "version": 1,
        "editable": True, "refresh": "30s", "time": {"from": "now-1h", "to": "now"},
        "timezone": "browser", "graphTooltip": 1,
        "links": [{"type": "dashboards", "tags": ["nereid"], "title": "Nereid", "asDropdown": True,
                   "includeVars": True, "keepTime": True}],
        "templating": {"list": variables(table.get("of_models", True))},
        "panels": panels(table["panel"])}
    return json.dumps(document, indent=2) + "\n"


def main() -> int:
    wanted = {FOLDER / f"{name}.json": dashboard(name, table)
              for name, table in tomllib.loads(TABLE.read_text()).items()}
    if sys.argv[1:] == ["--check"]:
        wrong = [path for path, text in wanted.items()
                 if not path.exists() or path.read_text() != text]
        wrong += sorted(set(FOLDER.glob("*.json")) - set(wanted))
        for path in wrong:
            print(f"{path.relative_to(ROOT)} is not what tools/make_dashboards.py writes")
        return 1 if wrong else 0
    for path, text in wanted.items():
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
