import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { unpacked } from './packages.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'mailsonde-deploy-'))
afterAll(() => rmSync(folder, { recursive: true }))

const run = (program: string, args: readonly string[]): string =>
  execFileSync(program, args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

it.each([
  ['mailsonde.service', 'mailsonde.service'],
  ['mailsonde@.service', 'mailsonde@8081.service'],
])('the systemd unit %s is valid, and its exposure is under 2.0', (name, installed) => {
  const unit = join(folder, installed)
  writeFileSync(unit, readFileSync(join(ROOT, 'deploy', name), 'utf8').replace('/usr/bin/node', '/bin/true'))
  const verified = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' })
  expect([verified.status, verified.stderr.includes(installed)]).toEqual([0, false])
  const judged = run('systemd-analyze', ['security', '--offline=true', '--no-pager', '--threshold=20', unit])
  expect(Number(/exposure level for \S+: ([\d.]+)/.exec(judged)?.[1])).toBeLessThan(2)
})

it('the configuration of the resolver is valid', () => {
  expect(run('unbound-checkconf', ['deploy/unbound/unbound.conf'])).toContain('no errors')
})

it('Prometheus takes the alerts, and every expression of the dashboard', () => {
  const { program } = unpacked('usr/bin/promtool')
  expect(run(program, ['check', 'rules', 'deploy/prometheus/rules.yml'])).toContain('SUCCESS: 10 rules found')
  const dashboard: { readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[] } =
    JSON.parse(readFileSync(join(ROOT, 'deploy/grafana/mailsonde.json'), 'utf8'))
  const expressions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
  const rules = expressions.map((expr, i) => ({
    record: `panel:${i}`,
    expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'),
  }))
  const file = join(folder, 'dashboard.yml')
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] })) // JSON is YAML
  expect(run(program, ['check', 'rules', file])).toContain(`SUCCESS: ${rules.length} rules found`)
})
