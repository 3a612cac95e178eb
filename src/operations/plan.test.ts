import { createContext, runInContext } from 'node:vm'
import { parse as readHcl } from '@cdktf/hcl2json'
import { describe, expect, it } from 'vitest'
import { parse as readYaml } from 'yaml'
import { answerTo } from '../../test/lab/answer.ts'
import type { LabZone } from '../../test/lab/dns.ts'
import { labCtx } from '../../test/lab/world.ts'
import type { PlanAnswer } from '../answers/plan.ts'
import { formatPlan } from '../plan/formats/formats.ts'
import { hcl, TERRAFORM_PROVIDERS, type TerraformProvider } from '../plan/formats/terraform.ts'
import { planSetup } from './plan.ts'
import { whatIf } from './what-if.ts'

const INCLUDES = [
  '_spf.google.com',
  'spf.protection.outlook.com',
  'spf.messagingengine.com',
  'sendgrid.net',
  'spf.brevo.com',
  'mailgun.org',
  'amazonses.com',
]
const HOSTS = ['smtp.google.com', 'in1-smtp.messagingengine.com', 'in2-smtp.messagingengine.com']
const ZONE: LabZone = Object.fromEntries([
  ['new.example', { TXT: ['google-site-verification=abc'], A: ['45.53.5.9'] }],
  ...INCLUDES.map((name, i) => [name, { TXT: [`v=spf1 ip4:45.53.${10 + i}.0/24 -all`] }]),
  ...HOSTS.map((name, i) => [name, { A: [`45.53.20.${i + 1}`] }]),
])
const DEPS = { smtpPort: 25, heloName: async () => 'sonde.example' }
const ask = (body: object, zone = ZONE) => answerTo(planSetup, labCtx(zone), DEPS, { domain: 'new.example', ...body })

describe('a setup from nothing', () => {
  const mailboxes = ['google-workspace', 'microsoft365', 'Fastmail']
  const senders = ['mailchimp', 'sendgrid', 'brevo', 'postmark']
  it.each(mailboxes.flatMap((one) => senders.map((other) => [one, other] as const)))(
    '%s with %s ends at A',
    async (one, other) => {
      const plan = await ask({ mailboxes: one, senders: [other], reports: 'dmarc@new.example' })
      expect(plan.end.score).toBeGreaterThanOrEqual(90)
      expect(plan.setup?.sources).toHaveLength(2)
      const records = plan.steps.flatMap((step) => (step.optional ? [] : step.records))
      expect(records.find(({ value }) => value.startsWith('v=spf1'))?.beside).toEqual(['google-site-verification=abc'])
    },
  )

  it.each([
    ['sendgrid', 'v=spf1 include:_spf.google.com ~all'],
    ['brevo', 'v=spf1 include:_spf.google.com ~all'],
    ['amazonses', 'v=spf1 include:_spf.google.com ~all'],
    ['postmark', 'v=spf1 include:_spf.google.com ~all'],
    // it sends as the domain that is set up at it
    ['mailgun', 'v=spf1 include:_spf.google.com include:mailgun.org ~all'],
  ])('%s: the SPF record is %s', async (sender, spf) => {
    const plan = await ask({ mailboxes: 'google', senders: [sender] })
    const [first] = plan.steps.flatMap(({ records }) => records.filter(({ value }) => value.startsWith('v=spf1')))
    expect(first?.value).toBe(spf)
  })

  it('the records of a plan without assumptions give its end score', async () => {
    const zone: LabZone = {
      ...ZONE,
      'own.example': { MX: [[10, 'm.own.example']], TXT: ['v=spf1 mx ?all', 'x=1'] },
      'm.own.example': { A: ['45.53.5.1', '45.53.5.2'] },
      '1.5.53.45.in-addr.arpa': { PTR: ['m.own.example'] },
      '2.5.53.45.in-addr.arpa': { PTR: ['m.own.example'] },
    }
    const plan = await ask({ domain: 'own.example' }, zone)
    const needed = plan.steps.filter(({ optional, assumed }) => !optional && !assumed)
    const records = needed
      .flatMap((step) => step.records)
      .map(({ name, type, value, action }) => ({ name: `${name}.`, type, value, remove: action === 'remove' }))
    const last = new Map(records.map((record) => [`${record.name} ${record.type} ${record.value.slice(0, 6)}`, record]))
    const assumed = plan.steps.reduce(
      (sum, step, i) => sum + (step.assumed ? step.score - (plan.steps[i - 1]?.score ?? plan.score) : 0),
      0,
    )
    const then = await answerTo(whatIf, labCtx(zone), DEPS, { domain: 'own.example', records: [...last.values()] })
    expect(then.score + assumed).toBe(plan.end.score)
  })

  it.each([
    [{ mailboxes: 'no-such' }, /"no-such" is not a known provider; known are own, google/],
    [{ mailboxes: 'google', senders: ['nobody'] }, /"nobody" is not a known provider/],
    [{ mailboxes: 'own' }, /name the mail hosts/],
    [{ mailboxes: 'own', mail_hosts: [{ host: 'm.new.example', addresses: ['x'] }] }, /"x" is not a mail host/],
    [{ expect: 'other.example. TXT "x"' }, /not below/],
  ])('%j is refused', async (body, words) => await expect(ask(body)).rejects.toThrow(words))
})

it('says how many records of a file are published, a TXT by its kind', async () => {
  const zone: LabZone = {
    'a.example': { TXT: ['v=spf1 -all', 'x=1'] },
    '_dmarc.a.example': { TXT: ['v=DMARC1; p=none'] },
  }
  const file = 'a.example. TXT "v=spf1 -all"\n_dmarc.a.example. TXT "v=DMARC1; p=reject"\n; later. TXT "x"'
  expect(await ask({ domain: 'a.example', expect: file }, zone)).toMatchObject({
    expected: 2,
    published: 1,
    missing: [{ name: '_dmarc.a.example', type: 'TXT', value: 'v=DMARC1; p=reject' }],
  })
})

/** Texts that try to leave their string in some format. */
const HOSTILE = [
  '"; drop',
  '\\',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a template of HCL
  '${file("/etc/passwd")}',
  '%{ for x in y }',
  '$${a}',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a template of HCL
  '$$${a} %%{ if b }',
  "'\n- evil: true",
  '*/ evil() /*',
  '\u2028evil()',
  'é"\\"',
  '");evil();//',
]
const evil = (value: string): PlanAnswer => ({
  domain: 'a.example',
  score: 1,
  grade: 'F',
  steps: [
    {
      title: value,
      findings: [value],
      by: 'dns',
      instructions: value,
      why: value,
      before: [value],
      score: 2,
      grade: 'F',
      grade_because: null,
      records: [
        { action: 'replace', name: 'a.example', type: 'TXT', ttl: 3600, value, was: [value], beside: [`x=${value}`] },
        { action: 'add', name: `a${value}.a.example`, type: 'MX', ttl: 3600, value: `10 ${value}.`, was: [] },
      ],
    },
  ],
  end: { score: 2, grade: 'F', grade_because: null },
  left: [],
  observed_at: '2026-01-02T03:04:05.000Z',
})

describe.each(HOSTILE)('a value cannot leave its string: %j', (value) => {
  const text = (
    format: 'zone' | 'dnscontrol' | 'octodns' | 'terraform',
    provider: TerraformProvider = 'cloudflare',
  ): string => formatPlan(evil(value), format, provider).text

  it('DNSControl: the JavaScript runs and declares the value alone', () => {
    const declared: unknown[][] = []
    const sandbox = {
      D_EXTEND: (...all: unknown[]) => declared.push(all),
      TXT: (...all: unknown[]) => all,
      MX: (...all: unknown[]) => all,
      TTL: (seconds: number) => seconds,
      END: undefined,
    }
    runInContext(text('dnscontrol'), createContext(sandbox))
    expect(declared).toEqual([['a.example', ['@', value, 3600], undefined]])
  })

  it('zone: each line is a comment or the record', () => {
    const lines = text('zone')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith(';'))
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/^a\.example\. 3600 IN TXT "(?:[^"\\]|\\["\\]|\\\d{3})*"$/)
  })

  it('octoDNS: the YAML has the one set, a semicolon written as octoDNS wants it', () => {
    const values = [`x=${value}`, value].map((one) => one.replaceAll(';', '\\;'))
    expect(readYaml(text('octodns'))).toEqual({ '': [{ type: 'TXT', ttl: 3600, values }] })
  })

  it('Terraform: strings are escaped, templates too', () => {
    expect(hcl(value)).toMatch(/^"(?:[^"\\\n$%]|\\["\\]|\\u[0-9a-f]{4}|\$\$\{|%%\{|[$%](?!\{))*"$/)
  })

  it.each(TERRAFORM_PROVIDERS)("Terraform for %s: HashiCorp's own parser reads the one record", async (provider) => {
    const file = await readHcl('plan.tf', text('terraform', provider))
    const { locals, resource, ...rest } = file as { locals: [{ mail_records: Record<string, Row> }]; resource: object }
    expect(Object.keys(rest)).toEqual(['variable'])
    expect(Object.keys(resource)).toHaveLength(1)
    const [row, ...others] = Object.values(locals[0].mail_records)
    expect(others).toEqual([])
    // The parser gives text as it is written in a template; a template that was begun would come back as one.
    const read = (row?.values?.join('\n') ?? row?.content ?? '').replace(/([$%])\1\{/g, '$1{')
    const ascii = (one: string): string => one.replace(/[^ -~]/gu, '')
    expect(ascii(read.replace(/\\(["\\])/g, '$1').replace(/\\\d{3}/g, ''))).toContain(ascii(value))
  })
})

type Row = { readonly content?: string; readonly values?: readonly string[] }
