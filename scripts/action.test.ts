import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'

const action = readFileSync(resolve(import.meta.dirname, '../action.yml'), 'utf8')
/** The script of the one step, as the runner gets it. */
const script = /\n {6}run: \|\n([\s\S]*)$/.exec(action)![1]!.replaceAll(/^ {8}/gm, '')

/** A program that notes its arguments, writes the files of --format, and ends with the status of its command. */
const program = (folder: string, statuses: string): string => `#!/bin/bash
printf '%s\n' "$(IFS='|'; echo "$*")" >> ${folder}/asked
for word in "$@"; do
  IFS=, read -r -a parts <<< "$word"
  for part in "\${parts[@]}"; do case $part in *=*) echo "as \${part%%=*}" > "\${part#*=}";; esac; done
done
case "$*" in ${statuses} *) exit 0;; esac
`

/** Runs the script with programs that note how they were called. */
function run(env: Readonly<Record<string, string>>, statuses: string) {
  const folder = mkdtempSync(join(tmpdir(), 'mailsonde-action-'))
  const put = (path: string, text: string): void => writeFileSync(join(folder, path), text, { mode: 0o755 })
  put('mailsonde', program(folder, statuses))
  mkdirSync(join(folder, 'package/dist'), { recursive: true })
  put('package/dist/main.js', program(folder, statuses))
  spawnSync('tar', ['-czf', 'mailsonde.tgz', 'package'], { cwd: folder })
  writeFileSync(join(folder, 'notes.txt'), '')
  mkdirSync(join(folder, 'bin'))
  put('bin/node', '#!/bin/bash\nexec bash "$@"\n')
  for (const name of ['npm', 'npx']) put(`bin/${name}`, `#!/bin/bash\necho ${name} >> ${folder}/asked\n`)
  const inputs = {
    COMMAND: 'check',
    FAIL_ON: 'high',
    MIN_SCORE: '',
    SELECTOR: '',
    EXPECT: '',
    SARIF: '',
    PACKAGE: 'mailsonde',
    SERVER: '',
    KEY: '',
  }
  const { status } = spawnSync('bash', ['-e', '-c', script], {
    cwd: folder,
    env: { PATH: `${folder}/bin:${process.env.PATH}`, TMPDIR: folder, ...inputs, ...env },
  })
  const read = (name: string): string => readFileSync(join(folder, name), { encoding: 'utf8', flag: 'a+' }).trim()
  const asked = read('asked')
    .replaceAll(/markdown=\S*?\/summary\.md/g, 'markdown=SUMMARY')
    .split('\n')
  return { status, asked, written: ['mail.sarif', 'summary'].map(read) }
}

it('no input becomes part of the script', () => {
  expect(script).not.toContain('${{')
  const declared = [...action.matchAll(/^ {2}([a-z-]+):\n {4}description/gm)].map(([, name]) => name)
  const used = [...action.matchAll(/\$\{\{ inputs\.([a-z-]+) \}\}/g)].map(([, name]) => name)
  expect(used.toSorted()).toEqual(declared.toSorted())
})

it.each([
  ['20.20.2', ''],
  ['22.18.0', ''],
  ['22.19.0', 'suits=true\n'],
  ['24.0.0', 'suits=true\n'],
])('Node.js %s is kept where the package runs on it', (version, output) => {
  const { engines } = JSON.parse(readFileSync(resolve(import.meta.dirname, '../package.json'), 'utf8'))
  expect(engines.node).toBe('>=22.19')
  const [, program = ''] = /run: node -e '([^']*)'/.exec(action) ?? []
  const { stdout } = spawnSync(process.execPath, ['-e', program.replace('process.versions.node', `'${version}'`)], {
    encoding: 'utf8',
  })
  expect(stdout).toBe(output)
})

it.each<
  [why: string, env: Readonly<Record<string, string>>, statuses: string, status: number, asked: readonly string[]]
>([
  ['one domain', { DOMAINS: 'a.example' }, '', 0, ['check|--fail-on|high|--format|github|--|a.example']],
  [
    'a packed file, which is not installed',
    { DOMAINS: 'a.example', PACKAGE: 'mailsonde.tgz' },
    '',
    0,
    ['check|--fail-on|high|--format|github|--|a.example'],
  ],
  ['a finding', { DOMAINS: 'a.example' }, '*check*) exit 1;;', 1, [expect.any(String)]],
  ['what could not be determined', { DOMAINS: 'a.example' }, '*check*) exit 3;;', 3, [expect.any(String)]],
  [
    'several, with a score and a selector',
    { DOMAINS: 'a.example\n b.example', MIN_SCORE: '80', SELECTOR: 's1,s2', COMMAND: 'report' },
    '',
    0,
    ['report|--fail-on|high|--min-score|80|--selector|s1,s2|--format|github|--|a.example|b.example'],
  ],
  [
    'drift alone',
    { DOMAINS: 'a.example', EXPECT: 'dns/a zone' },
    '*--expect*) exit 1;;',
    1,
    [expect.any(String), 'check|--expect|dns/a zone|--format|github|--|a.example'],
  ],
  ['no command of ours', { DOMAINS: 'a.example', COMMAND: 'serve' }, '', 2, ['']],
  ['a name that a registry would look up', { DOMAINS: 'a.example', PACKAGE: 'other' }, '', 2, ['']],
  ['a packed file that is not there', { DOMAINS: 'a.example', PACKAGE: 'other.tgz' }, '', 2, ['']],
  ['what is no program', { DOMAINS: 'a.example', PACKAGE: 'notes.txt' }, '', 2, ['']],
  [
    'a domain that would be code',
    { DOMAINS: '$(id);--help' },
    '',
    0,
    ['check|--fail-on|high|--format|github|--|$(id);--help'],
  ],
])('%s', (_, env, statuses, status, asked) => expect(run(env, statuses)).toMatchObject({ status, asked }))

it.each(['', '*check*) exit 1;;'])('annotations, SARIF and summary are of one evaluation %s', (statuses) => {
  const env = { DOMAINS: 'a.example b.example', SARIF: 'mail.sarif', GITHUB_STEP_SUMMARY: 'summary' }
  const { asked, written } = run(env, statuses)
  const formats = 'github,sarif=mail.sarif,markdown=SUMMARY'
  expect(asked).toEqual([`check|--fail-on|high|--format|${formats}|--|a.example|b.example`])
  expect(written).toEqual(['as sarif', 'as markdown'])
})
