import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'

/**
 * `npm run build:deb`: the Debian package `build/deb/mailsonde_<version>_<arch>.deb` from the executable, with a
 * hardened unit, its configuration in /etc/mailsonde, completions, manual page and licences. Needs dpkg-deb.
 */
const ROOT = resolve(import.meta.dirname, '..')
const OUT = join(ROOT, 'build/deb')
const TREE = join(OUT, 'root')
const arch = process.argv.includes('--arch') ? process.argv[process.argv.indexOf('--arch') + 1]! : process.arch
const EXECUTABLE = join(ROOT, `build/executable/mailsonde-linux-${arch}`)
const DEBIAN_ARCH = arch === 'x64' ? 'amd64' : arch
const text = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const { version } = JSON.parse(text('package.json')) as { readonly version: string }

function lay(path: string, content: string | Buffer, mode = 0o644): void {
  const file = join(TREE, path)
  mkdirSync(dirname(file), { recursive: true, mode: 0o755 })
  writeFileSync(file, content, { mode })
}
/** Without the time, so that two builds are equal. */
const packed = (content: string): Buffer => gzipSync(content, { level: 9 })

/** The unit of the npm package with another program, and a user of its own that the package makes. */
function unit(): string {
  const lines: readonly (readonly [RegExp, string])[] = [
    [/^# Installed as .*\n/m, ''],
    [/^Documentation=.*$/m, 'Documentation=man:mailsonde(1)'],
    [/^# Smaller steps of V8.*\n/m, ''],
    [/^ExecStart=.*$/m, 'ExecStart=/usr/bin/mailsonde serve --data-dir /var/lib/mailsonde'],
    [/^EnvironmentFile=.*$/m, 'EnvironmentFile=-/etc/mailsonde/mailsonde.env'],
    [/^# A later start takes half the time\.\nEnvironment=NODE_COMPILE_CACHE.*\n/m, ''],
    [/^DynamicUser=yes$/m, 'User=mailsonde\nGroup=mailsonde'],
  ]
  return lines.reduce((made, [line, by]) => {
    if (!line.test(made)) throw new Error(`deploy/mailsonde.service has no line like ${line}`)
    return made.replace(line, by)
  }, text('deploy/mailsonde.service'))
}

const mit = text('LICENSE').split('\n').slice(4).join('\n').trim()
/** machine-readable, DEP-5: empty lines of a text are dots. */
const indented = (lines: string): string =>
  lines
    .split('\n')
    .map((line) => (line.trim() === '' ? ' .' : ` ${line}`))
    .join('\n')
const COPYRIGHT = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: mailsonde
Comment:
 /usr/bin/mailsonde contains Node.js and the packages in
 /usr/share/doc/mailsonde/LICENSES.gz, each with its authors and its licence.

Files: *
Copyright: 2026 the mailsonde contributors
License: Expat

License: Expat
${indented(mit)}
`

/** The time of the last commit: two builds of one tree are equal. */
const epoch =
  process.env.SOURCE_DATE_EPOCH ??
  execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: ROOT, encoding: 'utf8' }).trim()
const CHANGES = `mailsonde (${version}) unstable; urgency=medium

  * See /usr/share/doc/mailsonde/CHANGELOG.md.gz.

 -- the mailsonde contributors <mailsonde@example.org>  ${new Date(Number(epoch) * 1_000).toUTCString().replace('GMT', '+0000')}
`

rmSync(OUT, { recursive: true, force: true })
lay('usr/bin/mailsonde', readFileSync(EXECUTABLE), 0o755)
lay('usr/lib/systemd/system/mailsonde.service', unit())
lay('etc/mailsonde/mailsonde.env', text('deploy/debian/mailsonde.env'), 0o640)
const COMPLETIONS = {
  bash: 'usr/share/bash-completion/completions/mailsonde',
  zsh: 'usr/share/zsh/vendor-completions/_mailsonde',
  fish: 'usr/share/fish/vendor_completions.d/mailsonde.fish',
} as const
for (const [shell, path] of Object.entries(COMPLETIONS))
  lay(path, execFileSync(process.execPath, [join(ROOT, 'dist/main.js'), 'completion', shell]))
const doc = 'usr/share/doc/mailsonde'
lay('usr/share/man/man1/mailsonde.1.gz', packed(text('docs/mailsonde.1')))
lay(`${doc}/copyright`, COPYRIGHT)
lay(`${doc}/changelog.gz`, packed(CHANGES))
lay(`${doc}/CHANGELOG.md.gz`, packed(text('CHANGELOG.md')))
const node = readdirSync(join(ROOT, 'build')).find((name) => name.startsWith('node-') && name.endsWith(arch)) ?? ''
lay(`${doc}/LICENSES.gz`, packed(`${text('dist/LICENSES.txt')}\nNode.js\n\n${text(`build/${node}/package/LICENSE`)}`))
lay('usr/share/lintian/overrides/mailsonde', text('deploy/debian/lintian-overrides'))

const files = readdirSync(TREE, { recursive: true, withFileTypes: true })
  .filter((one) => one.isFile())
  .map((one) => join(one.parentPath, one.name).slice(TREE.length + 1))
  .sort()
const size = files.reduce((sum, path) => sum + statSync(join(TREE, path)).size, 0)
for (const name of ['postinst', 'prerm', 'postrm']) lay(`DEBIAN/${name}`, text(`deploy/debian/${name}`), 0o755)
lay('DEBIAN/conffiles', '/etc/mailsonde/mailsonde.env\n')
const sum = (path: string): string =>
  createHash('md5')
    .update(readFileSync(join(TREE, path)))
    .digest('hex')
lay(
  'DEBIAN/md5sums',
  files
    .filter((path) => !path.startsWith('etc/'))
    .map((path) => `${sum(path)}  ${path}\n`)
    .join(''),
)
lay(
  'DEBIAN/control',
  `Package: mailsonde
Version: ${version}
Section: net
Priority: optional
Architecture: ${DEBIAN_ARCH}
Maintainer: the mailsonde contributors <mailsonde@example.org>
Installed-Size: ${Math.ceil(size / 1024)}
Depends: libc6 (>= 2.28), libstdc++6 (>= 6), libgcc-s1, libatomic1, adduser, init-system-helpers (>= 1.54)
Recommends: unbound
Suggests: postgresql (>= 15)
Description: checks the mail setup of domains, verifies mailboxes, looks up blacklists
 A self-hosted service with a web UI, an API and a command line. It checks a
 domain's mail setup and tells what to publish and in which order, reads DMARC
 reports, takes messages apart, verifies mailboxes over SMTP and looks
 addresses up on 29 blacklists. What it cannot determine is unknown, with the
 reason.
`,
)
execFileSync('chmod', ['-R', 'go-w', TREE])
const file = join(OUT, `mailsonde_${version}_${DEBIAN_ARCH}.deb`)
const level = process.argv.includes('--fast') ? '-z1' : '-z6'
execFileSync('dpkg-deb', ['--root-owner-group', '-Zxz', level, '--build', TREE, file], {
  env: { ...process.env, SOURCE_DATE_EPOCH: epoch },
  stdio: ['ignore', 'ignore', 'inherit'],
})
rmSync(TREE, { recursive: true })
console.log(file, `${(statSync(file).size / 1e6).toFixed(1)} MB`)
