type Attributes = Readonly<Record<string, string | null | undefined>>;

/** An element with its attributes, those of which are null are left out. Text stays text. */
export const make = <K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value != null) made.setAttribute(name, value);
  made.append(...children);
  return made;
};

/** A button that says what it does in `data-act`, for one listener of all. */
export const button = (act: string, attributes: Attributes, ...children: (Node | string)[]): HTMLButtonElement =>
  make("button", { type: "button", "data-act": act, ...attributes }, ...children);

/** An icon of one line, which says nothing to who cannot see it. */
export const icon = (line: string): SVGElement => {
  const space = "http://www.w3.org/2000/svg";
  const [svg, path] = [document.createElementNS(space, "svg"), document.createElementNS(space, "path")];
  for (const [name, value] of Object.entries({ viewBox: "0 0 24 24", "aria-hidden": "true" }))
    svg.setAttribute(name, value);
  path.setAttribute("d", line);
  svg.append(path);
  return svg;
};

/** A style sheet that needs no `style-src` of the page. */
export const sheet = (text: string): CSSStyleSheet => {
  const made = new CSSStyleSheet();
  made.replaceSync(text);
  return made;
};
