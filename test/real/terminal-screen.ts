/** Foreground colours of xterm's palette: the 16 as it has them at first, then the cube and the greys. */
const SIXTEEN = [
  ...['#000000', '#cd0000', '#00cd00', '#cdcd00', '#0000ee', '#cd00cd', '#00cdcd', '#e5e5e5'],
  ...['#7f7f7f', '#ff0000', '#00ff00', '#ffff00', '#5c5cff', '#ff00ff', '#00ffff', '#ffffff'],
]
const LEVELS = [0, 95, 135, 175, 215, 255]
const colourOf = (n: number): string => {
  if (n < 16) return SIXTEEN[n]!
  if (n > 231) return `rgb(${Array(3).fill(8 + (n - 232) * 10)})`
  const cube = n - 16
  return `rgb(${[Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((one) => LEVELS[one])})`
}

const escaped = (text: string): string => text.replace(/[&<>]/g, (one) => `&#${one.charCodeAt(0)};`)

/** A page that shows what was written to a terminal of so many columns: on white, and on black beside or below it. */
export function screenOf(output: string, width: number): string {
  const text = linesOf(output).map(htmlOf).join('\n')
  const screen = (colours: string): string => `<pre style="${colours};width:${width}.5ch">${text}\n</pre>`
  const side = width <= 100 ? 'display:flex' : ''
  return `<!doctype html><style>body{margin:0;width:max-content;${side}} pre{margin:0;padding:8px;font:13px/1.25 "DejaVu Sans Mono",monospace;
    white-space:pre-wrap;word-break:break-all} b{font-weight:700} i{font-style:normal;opacity:.6}</style>
    ${screen('background:#fff;color:#000')}${screen('background:#000;color:#e5e5e5')}`
}

/** Lines as they stand at the end: what a carriage return and an erased line took away is not there. */
const linesOf = (output: string): readonly string[] =>
  output.split('\n').map((line) => line.split(/\r/).findLast((part) => part !== '' && part !== '\u001b[K') ?? '')

/** A line with its colours (SGR); every other sequence is left out. */
function htmlOf(line: string): string {
  let open = ''
  return line
    .split(/(\u001b\[[0-9;?]*[A-Za-z])/)
    .map((part) => {
      if (!part.startsWith('\u001b['))
        return open === '' ? escaped(part) : `<span style="${open}">${escaped(part)}</span>`
      if (part.endsWith('m')) open = styleOf(part.slice(2, -1).split(';').map(Number), open)
      return ''
    })
    .join('')
}

function styleOf(codes: readonly number[], before: string): string {
  let style = before
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i]!
    if (code === 0) style = ''
    else if (code === 1) style += 'font-weight:700;'
    else if (code === 2) style += 'opacity:.6;'
    else if (code === 7) style += 'background:#888;color:#000;'
    else if (code === 27) style = ''
    else if (code >= 30 && code < 38) style += `color:${colourOf(code - 30)};`
    else if (code === 38 && codes[i + 1] === 5) {
      style += `color:${colourOf(codes[i + 2]!)};`
      i += 2
    } else if (code >= 90 && code < 98) style += `color:${colourOf(code - 82)};`
  }
  return style
}
