/** How the status page looks. Colours have a contrast of 4.5 with what they stand on, in both schemes. */
export const style = `
:root { color-scheme: light dark; --text: #1c1e21; --dim: #5a6068; --back: #f4f5f7; --card: #fff; --line: #d9dce1;
  --good: #1a7f37; --fair: #9a6700; --bad: #cf222e; --none: #c6cad0; --on: #fff; --link: #1f5fbf }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e7e9; --dim: #a2a8b0; --back: #16181b; --card: #22252a; --line: #3a3f46;
    --good: #4ac26b; --fair: #d4a72c; --bad: #ff8182; --none: #4a5058; --on: #101214; --link: #7fb0ff }
}
* { box-sizing: border-box }
body { margin: 0; background: var(--back); color: var(--text); font: 1rem/1.5 system-ui, sans-serif }
main { max-width: 52rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; overflow-wrap: anywhere }
h1 { font-size: 1.5rem } h2 { margin-top: 2rem; font-size: 1.15rem } h3 { margin: 0; font-size: 1.05rem }
a { color: var(--link) }
.overall { padding: .9rem 1.1rem; border-radius: .5rem; color: var(--on); font-weight: 600; margin-bottom: .3rem }
.overall.operational { background: var(--good) }
.overall.degraded { background: var(--fair) }
.overall.major_outage { background: var(--bad) }
.checked, .uptime, .about, .legend { color: var(--dim); font-size: .875rem }
ul, ol { list-style: none; margin: 0; padding: 0 }
.components { background: var(--card); border: 1px solid var(--line); border-radius: .5rem }
.components li { display: grid; grid-template-columns: 1fr auto; gap: .2rem 1rem; padding: .8rem 1rem }
.components li + li { border-top: 1px solid var(--line) }
.name { font-weight: 600 }
.state.operational { color: var(--good) } .state.degraded { color: var(--fair) } .state.major_outage { color: var(--bad) }
.bars { grid-column: 1 / -1; display: flex; gap: 2px; height: 2rem }
.bars i { flex: 1; min-width: 1px; border-radius: 1px }
.uptime { grid-column: 1 / -1 }
i.operational, .legend .operational { background: var(--good) }
i.degraded, .legend .degraded { background: var(--fair) }
i.major_outage, .legend .major_outage { background: var(--bad) }
i.unknown, .legend .unknown { background: var(--none) }
.legend span { display: inline-block; width: .8rem; height: .8rem; margin: 0 .3rem 0 .8rem; border-radius: 2px }
.legend span:first-child { margin-left: 0 }
article { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: 1rem; margin: .8rem 0 }
article li p { margin: .2rem 0 .8rem; white-space: pre-line }
.severity { font-weight: 600 }
.severity.critical, .severity.major { color: var(--bad) }
.links a { margin-right: 1rem }
`;
