import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'

const action = readFileSync(resolve(import.meta.dirname, '../action.yml'), 'utf8')
/** The script of the one step, as the runner gets it. */
const script = /\n {6}run: \|\n([\s\S]*)$/.exec(action)![1]!.replaceAll(/^ {8}/gm, '')

/**
 * Runs the script with an `npx` and a `node` that note their arguments and end with the status that stands for their
 * command.
 */
function run(env: Readonly<Record<string, string>>, statuses: string) {
  const folder = mkdtempSync(join(tmpdir(), 'mailsonde-action-'))
  const npx = `#!/bin/bash\nprintf '%s\\n' "$(IFS='|'; echo "$*")" >> ${folder}/asked\ncase "$*" in ${statuses} *) exit 0;; esac\n`
  for (const name of ['npx', 'node', 'npm']) {
    writeFileSync(`${folder}/${name}`, npx)
    chmodSync(`${folder}/${name}`, 0o755)
  }
  writeFileSync(`${folder}/mailsonde.tgz`, '')
  const inputs = {
    COMMAND: 'check',
    FAIL_ON: 'high',
    MIN_SCORE: '',
    SELECTOR: '',
    EXPECT: '',
    SARIF: '',
    PACKAGE: 'mailsonde.tgz',
    SOURCES: folder,
    SERVER: '',
    KEY: '',
  }
  const { status } = spawnSync('bash', ['-e', '-c', script], {
    cwd: folder,
    env: { PATH: `${folder}:${process.env.PATH}`, ...inputs, ...env },
  })
  const asked = readFileSync(`${folder}/asked`, { encoding: 'utf8', flag: 'a+' }).trim().split('\n')
  return { status, asked }
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
  [
    'one domain',
    { DOMAINS: 'a.example' },
    '',
    0,
    ['--yes|--package|file:mailsonde.tgz|--|mailsonde|check|--fail-on|high|--format|github|--|a.example'],
  ],
  ['a finding', { DOMAINS: 'a.example' }, '*check*) exit 1;;', 1, [expect.any(String)]],
  ['what could not be determined', { DOMAINS: 'a.example' }, '*check*) exit 3;;', 3, [expect.any(String)]],
  [
    'several, with a score and a selector',
    { DOMAINS: 'a.example\n b.example', MIN_SCORE: '80', SELECTOR: 's1,s2', COMMAND: 'report' },
    '',
    0,
    [
      '--yes|--package|file:mailsonde.tgz|--|mailsonde|report|--fail-on|high|--min-score|80|--selector|s1,s2|--format|github|--|a.example|b.example',
    ],
  ],
  [
    'drift alone',
    { DOMAINS: 'a.example', EXPECT: 'dns/a zone' },
    '*--expect*) exit 1;;',
    1,
    [
      expect.any(String),
      '--yes|--package|file:mailsonde.tgz|--|mailsonde|check|--expect|dns/a zone|--format|github|--|a.example',
    ],
  ],
  ['no command of ours', { DOMAINS: 'a.example', COMMAND: 'serve' }, '', 2, ['']],
  ['a name that a registry would look up', { DOMAINS: 'a.example', PACKAGE: 'mailsonde' }, '', 2, ['']],
  ['a packed file that is not there', { DOMAINS: 'a.example', PACKAGE: 'other.tgz' }, '', 2, ['']],
  [
    'the sources of the action, without a package',
    { DOMAINS: 'a.example', PACKAGE: '', SOURCES: '.' },
    '',
    0,
    ['ci|--ignore-scripts|--silent', './src/main.js|check|--fail-on|high|--format|github|--|a.example'],
  ],
  [
    'a domain that would be code',
    { DOMAINS: '$(id);--help' },
    '',
    0,
    ['--yes|--package|file:mailsonde.tgz|--|mailsonde|check|--fail-on|high|--format|github|--|$(id);--help'],
  ],
])('%s', (_, env, statuses, status, asked) => expect(run(env, statuses)).toEqual({ status, asked }))
