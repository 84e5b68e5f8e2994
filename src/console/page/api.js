// SPDX-License-Identifier: Apache-2.0
// The OpenAPI document of the server, or of a model, as a page.
import { download, h, link, show } from "./element.js";
import * as server from "./server.js";

function jsonText(value) {
  return JSON.stringify(value, null, 2);
}

/** Returns what a reference like "#/components/schemas/X" points to; null if there is nothing. */
function resolve(document, reference) {
  return reference.slice(2).split("/").reduce(
    (part, name) => part?.[name.replaceAll("~1", "/").replaceAll("~0", "~")] ?? null, document);
}

function schemaBlock(document, schema) {
  const target = schema.$ref ? resolve(document, schema.$ref) : schema;
  return h("details", null,
    h("summary", null, schema.$ref ? `Schema ${schema.$ref.split("/").at(-1)}` : "Schema"),
    h("pre", { tabindex: "0" }, jsonText(target)));
}

function contentBlocks(document, content) {
  return Object.entries(content ?? {}).map(([type, media]) => [
    h("p", { class: "mono" }, type),
    media.schema && schemaBlock(document, media.schema),
    media.example !== undefined && h("details", { open: true }, h("summary", null, "Example"),
                                     h("pre", { tabindex: "0" }, jsonText(media.example))),
    Object.entries(media.examples ?? {}).map(([name, example]) =>
      h("details", null, h("summary", null, `Example ${name}`),
        h("pre", { tabindex: "0" }, jsonText(example.value ?? example)))),
  ]);
}

function operationBlock(document, path, method, operation) {
  const parameters = (operation.parameters ?? []).map((one) =>
    one.$ref ? resolve(document, one.$ref) ?? {} : one);
  return h("details", { class: "card" },
    h("summary", null, h("span", { class: "method" }, method.toUpperCase()), h("code", null, path),
      operation.summary && ` – ${operation.summary}`),
    operation.description && h("p", null, operation.description),
    parameters.length > 0 && [h("h3", null, "Parameters"), h("dl", null, parameters.map((one) => [
      h("dt", null, h("code", null, one.name ?? ""), ` (${one.in ?? ""})`),
      h("dd", null, one.description ?? (one.schema ? jsonText(one.schema) : "")),
    ]))],
    operation.requestBody && [h("h3", null, "Request"),
      contentBlocks(document, (operation.requestBody.$ref
        ? resolve(document, operation.requestBody.$ref) : operation.requestBody)?.content)],
    h("h3", null, "Answers"),
    Object.entries(operation.responses ?? {}).map(([status, given]) => {
      const response = given.$ref ? resolve(document, given.$ref) ?? {} : given;
      return h("div", null, h("p", null, h("strong", null, status), ` ${response.description ?? ""}`),
        contentBlocks(document, response.content));
    }));
}

const METHODS = ["get", "put", "post", "delete", "patch", "head", "options"];

export async function apiPage({ content, parts, signal }) {
  const path = parts[0] ? server.modelPath(parts[0], "", "openapi.json") : "/v2/openapi.json";
  const document = await server.get(path, signal);
  if (signal.aborted) return;
  const blocks = Object.entries(document.paths ?? {}).flatMap(([route, operations]) =>
    METHODS.filter((method) => operations[method]).map((method) =>
      operationBlock(document, route, method, operations[method])));
  show(content, h("h1", null, document.info?.title ?? "API"),
    document.info?.description && h("p", null, document.info.description),
    h("p", { class: "row" },
      h("button", {
        type: "button",
        click: () => download("openapi.json", jsonText(document), "application/json"),
      }, `Save openapi.json (OpenAPI ${document.openapi})`),
      parts[0] && link(["models", parts[0]], `Numbers of ${parts[0]}`),
      parts[0] && link(["models", parts[0], "try"], "Try it")),
    blocks);
}
