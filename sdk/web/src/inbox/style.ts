import { sheet } from "../view/dom.ts";

/** Colours are custom properties, and parts have names, so that a site can make it look as it does. */
export const style = () =>
  sheet(`
:host{--herald-accent:light-dark(#1d4ed8,#9db9ff);--herald-back:light-dark(#fff,#1c1d21);--herald-text:light-dark(#1a1b1f,#f2f3f5);
--herald-soft:light-dark(#565b66,#b8bdc9);--herald-line:light-dark(#d9dce3,#3d4048);color-scheme:light dark;display:inline-block;font:inherit;line-height:1.4}
:host([inline]){display:block}
[hidden]{display:none!important}
button,a{font:inherit;color:inherit}
button{background:none;border:0;border-radius:6px;padding:4px 8px;cursor:pointer}
:focus-visible{outline:2px solid var(--herald-accent);outline-offset:1px}
svg{width:20px;height:20px;fill:none;stroke:currentColor;stroke-width:2;stroke-linecap:round;stroke-linejoin:round;display:block}
[part=button]{position:relative;padding:8px}
[part=badge]{position:absolute;top:0;inset-inline-end:0;min-width:18px;padding:0 4px;box-sizing:border-box;border-radius:9px;font-size:12px;line-height:18px;background:var(--herald-accent);color:var(--herald-back)}
[part=panel]{color:var(--herald-text);background:var(--herald-back);border:1px solid var(--herald-line);border-radius:12px;padding:0;box-sizing:border-box;text-align:start}
[popover]{position:fixed;inset:auto;margin:0;width:min(400px,100vw - 16px);max-height:min(600px,100vh - 16px);overflow:auto;box-shadow:0 8px 32px #0004}
[part=head]{display:flex;align-items:center;gap:8px;justify-content:space-between;padding:8px 12px;position:sticky;top:0;background:inherit;border-bottom:1px solid var(--herald-line)}
h2{font-size:1.1em;margin:0}
[part=list]{list-style:none;margin:0;padding:0}
[part~=item]{display:flex;gap:8px;align-items:flex-start;padding:10px 12px;border-bottom:1px solid var(--herald-line)}
[part~=unread]{box-shadow:inset 3px 0 var(--herald-accent)}
[part~=unread] [part=title]{font-weight:700}
[part=text]{flex:1;min-width:0;overflow-wrap:anywhere}
[part=title]{display:block;width:100%;padding:0;text-align:start;text-decoration:none}
[part=title]:hover{text-decoration:underline}
[part=body]{margin:2px 0;white-space:pre-line}
[part=time],[part=none]{color:var(--herald-soft);font-size:.875em}
[part=image]{width:48px;height:48px;object-fit:cover;border-radius:6px}
[part=action],[part=link],[part=all],[part=more]{color:var(--herald-accent)}
[part=links]{display:flex;flex-wrap:wrap;gap:12px;margin:4px 0}
[part=none],[part=problem]{padding:16px 12px;margin:0}
[part=more]{display:block;width:100%;padding:10px}
[role=status]{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);margin:0}
`);
