import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { testState } from '../src/answers/blacklist.ts'
import { breakerState } from '../src/answers/pool.ts'
import { variableOf } from '../src/config.ts'
import { OPTIONS } from '../src/config-options.ts'
import { createMetrics } from '../src/start/metrics.ts'
import { labDeps } from './lab/app.ts'
import { labWorld } from './lab/world.ts'

const read = (path: string): string => readFileSync(resolve(import.meta.dirname, '..', path), 'utf8')

const deps = labDeps(labWorld())
const metrics = createMetrics()
metrics.watch(
  async () => deps,
  () => 0,
  () => 0,
  () => ({ done: 0, ended: { time: 0, memory: 0, fault: 0, remembered: 0, full: 0 }, waiting: 0 }),
)
const known = new Map<string, string>()
for (const [, name, type] of (await metrics.read()).text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) known.set(name!, type!)

type Panel = {
  readonly id: number
  readonly title: string
  readonly type: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets: readonly { readonly refId: string; readonly expr: string }[]
}
const dashboard: { readonly panels: readonly Panel[]; readonly uid: string; readonly schemaVersion: number } =
  JSON.parse(read('deploy/grafana/mailsonde.json'))

/** Names of metrics in an expression of PromQL; `up` is Prometheus's own. */
const metricsIn = (expression: string): readonly string[] =>
  [...expression.matchAll(/\b(?:mailsonde|nodejs|process)_\w+/g)].map(([name]) => name)

function isKnown(name: string): boolean {
  const base = name.replace(/_(?:bucket|sum|count)$/, '')
  return known.has(name) || (base !== name && known.get(base) === 'histogram')
}

describe('alerts and dashboard', () => {
  const rules = metricsIn(read('deploy/prometheus/rules.yml'))
  const shown = dashboard.panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => metricsIn(expr)))
  it('ask for metrics that the service has', () => {
    expect(rules.length).toBeGreaterThan(8)
    expect(shown.length).toBeGreaterThan(12)
    expect([...rules, ...shown].filter((name) => !isKnown(name))).toEqual([])
  })

  it.each<[string, RegExp, { readonly options: readonly string[] }]>([
    ['states of lists', /blacklist_state\{[^}]*?state=~?\\?"([\w|]+)/g, testState],
    ['states of circuit breakers', /pool_providers\{[^}]*?breaker=~?\\?"([\w|]+)/g, breakerState],
  ])('name %s that there are', (_, pattern, states) => {
    const texts = [read('deploy/prometheus/rules.yml'), read('deploy/grafana/mailsonde.json')]
    const named = texts.flatMap((text) => [...text.matchAll(pattern)].flatMap(([, words]) => words!.split('|')))
    expect(named.length).toBeGreaterThan(0)
    expect(named.filter((word) => !states.options.includes(word))).toEqual([])
  })

  it('the dashboard shows every metric of ours', () => {
    const ours = [...known.keys()].filter(
      (name) => name.startsWith('mailsonde_') && name !== 'mailsonde_dns_events_total',
    )
    expect(ours.filter((name) => !shown.some((one) => one.startsWith(name)))).toEqual([])
  })

  it('its panels have ids and places of their own', () => {
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)} ${y + Math.floor(i / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
    for (const { gridPos, title, type } of dashboard.panels) {
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24)
      expect([title.length > 0, ['stat', 'timeseries'].includes(type)]).toEqual([true, true])
    }
  })
})

it.each([
  'Dockerfile',
  'compose.yaml',
  'deploy/mailsonde.service',
  'deploy/mailsonde@.service',
  'deploy/two-nodes/compose.yaml',
])('%s names options that there are', (path) => {
  const flags = [...read(path).matchAll(/(?<=[\s[",])--([a-z-]+)/g)].map(([, flag]) => flag!)
  const ours = flags.filter((flag) => !FLAGS_OF_OTHERS.includes(flag))
  const own = Object.values(OPTIONS).map(({ flag }) => flag)
  const variables = [...read(path).matchAll(/\bMAILSONDE_[A-Z_]+/g)].map(([name]) => name)
  expect(variables.filter((name) => !own.map(variableOf).includes(name))).toEqual([])
  expect(ours.filter((flag) => flag !== 'server' && !own.includes(flag))).toEqual([])
  expect(ours.length).toBeGreaterThan(0)
})
/** Of docker, npm, apt and V8. */
const FLAGS_OF_OTHERS = [
  'read-only',
  'tmpfs',
  'omit',
  'from',
  'interval',
  'timeout',
  'start-period',
  'profile',
  'no-install-recommends',
  'ignore-scripts',
  'system',
  'no-create-home',
  'uid',
  'max-semi-space-size',
  'heap-growing-percent',
]
