/** Colours are custom properties of the page, and parts have names. */
export const style = `
:host{color-scheme:light dark;font:inherit;line-height:1.4}
[part~=box]{box-sizing:border-box;color:var(--herald-text,light-dark(#1a1b1f,#f2f3f5));background:var(--herald-back,light-dark(#fff,#1c1d21));border:0;padding:20px;overflow:auto;overflow-wrap:anywhere;text-align:start;box-shadow:0 8px 32px #0006}
::backdrop{background:#0008}
[part~=modal],[part~=center]{border-radius:14px;width:min(480px,100vw - 32px);max-height:calc(100vh - 32px)}
[part~=center]{width:min(340px,100vw - 32px);text-align:center}
[part~=full]{width:100vw;max-width:none;height:100vh;max-height:none;padding:48px 24px;text-align:center}
[part~=banner]{position:fixed;z-index:2147483647;top:8px;left:8px;right:8px;max-width:640px;max-height:calc(100vh - 16px);margin:auto;border-radius:12px;padding:14px 16px}
h2{font-size:1.2em;margin:0 32px 4px 0}
[part~=center] h2,[part~=full] h2{margin:0 24px 4px}
[part=unsaid]{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
p{margin:0 32px 8px 0;white-space:pre-line}
[part~=center] p,[part~=full] p{margin:0 24px 8px}
img{display:block;max-width:100%;max-height:40vh;margin:0 auto 12px;border-radius:8px}
button{font:inherit;color:inherit;background:none;border:1px solid currentColor;border-radius:8px;padding:8px 16px;cursor:pointer;min-height:40px}
:focus-visible{outline:2px solid currentColor;outline-offset:2px}
[part=close]{position:absolute;top:8px;right:8px;border:0;padding:8px}
[part=buttons]{display:flex;flex-wrap:wrap;gap:8px;margin-top:12px}
[part~=center] [part=buttons],[part~=full] [part=buttons]{justify-content:center}
svg{width:20px;height:20px;fill:none;stroke:currentColor;stroke-width:2;stroke-linecap:round;display:block}
`;
