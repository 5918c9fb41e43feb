// Licensed under the Apache License, Version 2.0; see LICENSE.
// Vega's modules find each other by name, as in CommonJS.
const definitions = {}, modules = {}, themes = {};
function define(name, body) { definitions[name] = body; }
function load(asked) {
  const name = asked === "vega-selections" ? "vega-selection" : asked;
  if (!(name in modules)) {
    if (!(name in definitions)) throw new Error("no module " + name);
    modules[name] = {};
    definitions[name](modules[name], {}, load);
  }
  return modules[name];
}
