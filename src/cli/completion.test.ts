import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { labActions } from '../../test/lab/actions.ts'
import { OPTIONS } from '../config-options.ts'
import { allOperations } from '../operations/registry.ts'
import { completionScript, treeOf } from './completion.ts'
import { buildProgram } from './program.ts'

const configFlags = Object.entries(OPTIONS).map(([key, { flag, repeatable, meaning, argument }]) => ({
  ...{ key, flag, repeatable, meaning },
  ...(argument ? { argument } : {}),
}))
const program = buildProgram(
  {
    ...{ operations: await allOperations(), configFlags, version: '0', readFile: () => '', complain: () => {} },
    actions: labActions(),
  },
  async () => {},
)
const hasShell = (shell: string): boolean => spawnSync(shell, ['-c', 'exit 0']).status === 0

/** The completions of bash for each of these lines, in one interactive shell. */
const LINES: readonly (readonly [line: string, offered: readonly string[], not: readonly string[]])[] = [
  ['mailsonde ', ['check', 'verify', 'jobs', 'serve', 'completion'], ['submit', '--port', 'what-if']],
  ['mailsonde ver', ['verify'], ['check']],
  ['mailsonde check example.org --f', ['--format', '--fail-on'], ['--port']],
  ['mailsonde check --format ', ['json', 'table', 'sarif'], ['--format']],
  ['mailsonde check --fail-on ', ['low', 'critical'], ['check']],
  ['mailsonde check --format json ', ['--selector', '--quiet'], ['table']],
  ['mailsonde jobs ', ['submit', 'list'], ['check']],
  ['mailsonde jobs --', ['--limit', '--format', '--server'], ['--kind']],
  ['mailsonde jobs --limit 5 --format ', ['json', 'table'], ['submit']],
  ['mailsonde keys --', ['--data-dir'], []],
  ['mailsonde jobs submit --k', ['--kind', '--key'], []],
  ['mailsonde jobs submit --kind ', ['verify', 'check', 'blacklist'], []],
  ['mailsonde keys re', ['revoke', 'reset'], []],
  ['mailsonde serve --po', ['--port', '--pool', '--pool-attempts'], []],
  ['mailsonde completion ', ['bash', 'zsh', 'fish'], []],
  ['mailsonde verify --server http://x --sug', ['--suggestion'], []],
]
let offered: readonly (readonly string[])[] = []
beforeAll(() => {
  const asked = LINES.map(([line]) => {
    const words = line.split(' ')
    const quoted = words.map((word) => `'${word}'`).join(' ')
    return `COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; COMPREPLY=(); _mailsonde; echo "\${COMPREPLY[*]}"`
  })
  const script = `compopt() { :; }\n${completionScript('bash', program)}\n${asked.join('\n')}\n`
  const { stdout, stderr } = spawnSync('bash', ['--norc'], { input: script, encoding: 'utf8' })
  expect(stderr).toBe('')
  offered = stdout.split('\n').map((line) => line.split(' '))
})

it.each(LINES.map((row, i) => [row[0], i] as const))('bash: %j', (_, i) => {
  const [, some, none] = LINES[i]!
  expect(offered[i]).toEqual(expect.arrayContaining([...some]))
  for (const word of none) expect(offered[i]).not.toContain(word)
})

it.skipIf(!hasShell('zsh'))('zsh reads its script', () => {
  const { status, stderr } = spawnSync('zsh', ['-n'], { input: completionScript('zsh', program), encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, ''])
})

/** Types a line and a tab into an interactive zsh, and prints its output until there is a description, or for 20 s. */
const ZSH_TYPIST = `
zmodload zsh/zpty zsh/zselect
untilShown() { while [[ $shown != $~1 ]] && (( SECONDS < 20 )); do zpty -rt shell chunk && shown+=$chunk || zselect -t 5; done }
zpty -b shell zsh -f -i
zpty -w shell "PS1=; autoload -Uz compinit; compinit -u -D; stty cols 200; bindkey '^I' list-choices; source $1; print READY"
untilShown $'*\nREADY*'
shown=
zpty -w -n shell "$2"$'\t'
untilShown '* -- *[(]*'
print -r -- $shown
zpty -d shell
`
it.skipIf(!hasShell('zsh')).each([
  ['mailsonde check --sel', /--selector {2}-- DKIM selectors [^:]+: a,b \(/],
  ['mailsonde jobs --li', /--limit {2}-- items per page \(/],
  ['mailsonde jobs submit --na', /--name {2}-- /],
])(
  'zsh: %j with its whole description (skipped where zsh is not installed)',
  (line, shown) => {
    const folder = mkdtempSync(join(tmpdir(), 'mailsonde-zsh-'))
    const file = join(folder, 'script.zsh')
    try {
      writeFileSync(file, completionScript('zsh', program))
      const { stdout } = spawnSync('zsh', ['-f', '-c', ZSH_TYPIST, 'typist', file, line], {
        encoding: 'utf8',
        timeout: 30_000,
        env: { PATH: process.env.PATH, HOME: folder, LANG: 'C.UTF-8', TERM: 'xterm' },
      })
      expect(stdout).toMatch(shown)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
  40_000,
)

/** fish runs a script from a file: it does not read one from a socket, which standard input is here. */
function fish(args: readonly string[], script: string): { readonly status: number | null; readonly lines: string[] } {
  const folder = mkdtempSync(join(tmpdir(), 'mailsonde-fish-'))
  try {
    writeFileSync(join(folder, 'script.fish'), script)
    const env = { PATH: process.env.PATH, HOME: folder, LANG: 'C.UTF-8' }
    const { status, stdout, stderr } = spawnSync('fish', [...args, join(folder, 'script.fish')], {
      encoding: 'utf8',
      env,
    })
    return { status, lines: `${stderr}${stdout}`.split('\n').slice(0, -1) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

it.skipIf(!hasShell('fish'))('fish reads its script', () =>
  expect(fish(['--no-execute'], completionScript('fish', program))).toEqual({ status: 0, lines: [] }),
)

it.skipIf(!hasShell('fish'))('fish offers the same (skipped where fish is not installed)', () => {
  const asked = LINES.map(([line]) => `complete -C'${line}'; echo ==`)
  const { lines } = fish(['--no-config'], `${completionScript('fish', program)}\n${asked.join('\n')}\n`)
  const words = lines
    .join('\n')
    .split('==\n')
    .map((part) => part.split('\n').map((one) => one.split('\t')[0]!))
  for (const [i, [line, yes, not]] of LINES.entries()) {
    // Options are offered only after a dash.
    const wanted = yes.filter((word) => !word.startsWith('-') || / -\S*$/.test(line))
    expect([line, words[i]]).toEqual([line, expect.arrayContaining(wanted)])
    expect(not.filter((word) => words[i]!.includes(word))).toEqual([])
  }
})

it.each(['bash', 'zsh', 'fish'])('%s: every command and every option stands in the script', (shell) => {
  const script = completionScript(shell, program)
  const tree = treeOf(program)
  for (const { path, options } of tree.below) {
    expect(script).toContain(path.at(-1))
    for (const { long } of options) expect(script).toContain(shell === 'fish' ? `-l ${long.slice(2)} ` : long)
  }
})
