import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Most rows of a terminal that script(1) can be given: a view is one screen of less. */
const MAX_ROWS = 2_000

/**
 * What less(1) writes to a terminal of so many columns for a text, all of it on one screen, and its last line.
 * `options`: `-R` takes colours as they are.
 */
export function throughLess(text: string, columns: number, options: readonly string[]): string {
  const folded = text.split('\n').reduce((sum, line) => sum + Math.ceil(line.length / columns) + 1, 10)
  const rows = Math.min(MAX_ROWS, folded)
  const folder = mkdtempSync(join(tmpdir(), 'mailsonde-less-'))
  const file = join(folder, 'view')
  writeFileSync(file, text)
  const command = `stty cols ${columns} rows ${rows}; less ${options.join(' ')} ${file}`
  const { stdout, status } = spawnSync('sh', ['-c', `(sleep 0.2; printf q) | script -qec '${command}' /dev/null`], {
    encoding: 'utf8',
    maxBuffer: 64 << 20,
    env: { PATH: process.env.PATH, TERM: 'xterm-256color', LANG: 'C.UTF-8', LESSHISTFILE: '-' },
  })
  rmSync(folder, { recursive: true })
  if (status !== 0) throw new Error(`less ended with ${status}`)
  const [begin = '', end] = stdout.split(/(?<=\(END\)\u001b\[27m)/)
  if (end === undefined) throw new Error('less did not reach the end of the view')
  // Without the alternate screen before it, and what makes the terminal go on to its next line where less folds one.
  return begin
    .replace(/^[\s\S]*\u001b\[\?1h\u001b=\r?/, '')
    .replaceAll('\r\n', '\n')
    .replaceAll(' \b', '')
}
