/** How many members the objects of a text of JSON have, each as often as it is named. It looks at the strings alone. */
export const membersIn = (text: string): number => {
  let members = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at)) {
    at = afterString(text, at);
    if (isNameEnd(text, at)) members++;
  }
  return members;
};

/** The way to the first member that a text of JSON names for the second time: `.contents`, `[0]`; null without one. */
export const repeatedMember = (text: string): string[] | null => {
  const open: { names: Set<string> | null; part: string; index: number }[] = [];
  for (let at = 0; at < text.length; at++) {
    const inner = open.at(-1);
    const character = text[at];
    if (character === "{") open.push({ names: new Set(), part: "", index: 0 });
    else if (character === "[") open.push({ names: null, part: "[0]", index: 0 });
    else if (character === "}" || character === "]") open.pop();
    else if (character === "," && inner?.names === null) inner.part = `[${++inner.index}]`;
    if (character !== '"') continue;
    const end = afterString(text, at);
    if (inner?.names && isNameEnd(text, end)) {
      const name = String(JSON.parse(text.slice(at, end)));
      inner.part = `.${name}`;
      if (inner.names.has(name)) return open.map(({ part }) => part);
      inner.names.add(name);
    }
    at = end - 1;
  }
  return null;
};

/** Behind the string that begins here. */
const afterString = (text: string, begin: number): number => {
  let end = text.indexOf('"', begin + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end + 1;
};

const isEscaped = (text: string, at: number): boolean => {
  let before = at - 1;
  while (text.charCodeAt(before) === backslash) before--;
  return (at - before) % 2 === 0;
};

/** Whether what begins here, after a string, makes it a name. A code is quicker to compare than a character. */
const isNameEnd = (text: string, from: number): boolean => {
  let at = from;
  while (text.charCodeAt(at) <= blank) at++;
  return text.charCodeAt(at) === colon;
};

const [backslash, blank, colon] = [0x5c, 0x20, 0x3a]; // nothing but white space lies below a blank, between two tokens
