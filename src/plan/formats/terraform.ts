import type { PlanAnswer, PlanRecord } from '../../answers/plan.ts'
import { printable } from '../../base/text.ts'
import { leftOut } from './octodns.ts'
import {
  commentText,
  goneLines,
  headLines,
  isPlain,
  laterLines,
  MAX_LINE,
  partsOf,
  quotedString,
  stepLines,
  stringsOf,
  wholeSets,
} from './sets.ts'

/** The Terraform providers whose resources can be written. */
export const TERRAFORM_PROVIDERS = ['cloudflare', 'route53', 'google'] as const
export type TerraformProvider = (typeof TERRAFORM_PROVIDERS)[number]

/** The plan for Terraform: the records as plain locals, and one resource that loops over them. */
export function formatTerraform(plan: PlanAnswer, provider: TerraformProvider): string {
  const lines = [...headLines(plan), ...ABOUT[provider]].map(comment)
  for (const part of partsOf(plan)) {
    lines.push(...stepLines(part).map(comment), ...goneLines(part.now).map(comment))
    const write = ({ name, type, value }: PlanRecord): string => printable(` ${name} ${type} ${value}`, MAX_LINE)
    lines.push(...laterLines(part, write).map((line) => `# ${line}`))
  }
  const rows = provider === 'cloudflare' ? singleRows(plan) : setRows(plan, provider)
  return `${[...lines, '', 'locals {', '  mail_records = {', ...rows, '  }', '}', '', RESOURCES[provider]].join('\n')}\n`
}

const comment = (line: string): string => `# ${commentText(line)}`

const ABOUT: Readonly<Record<TerraformProvider, readonly string[]>> = {
  cloudflare: [
    'Cloudflare has one resource for each record: delete or import what a record replaces, the others at its name stay.',
  ],
  route53: [
    'Route 53 owns a name and type as a whole: each set has its other values as they were published when the plan was made. Import existing sets first.',
  ],
  google: [
    'Cloud DNS owns a name and type as a whole: each set has its other values as they were published when the plan was made. Import existing sets first.',
  ],
}

const RESOURCES: Readonly<Record<TerraformProvider, string>> = {
  cloudflare: `variable "zone_id" {
  type = string
}

resource "cloudflare_dns_record" "mail" {
  for_each = local.mail_records
  zone_id  = var.zone_id
  name     = each.value.name
  type     = each.value.type
  ttl      = each.value.ttl
  content  = each.value.content
  priority = each.value.priority
}`,
  route53: `variable "zone_id" {
  type = string
}

resource "aws_route53_record" "mail" {
  for_each = local.mail_records
  zone_id  = var.zone_id
  name     = each.value.name
  type     = each.value.type
  ttl      = each.value.ttl
  records  = each.value.values
}`,
  google: `variable "managed_zone" {
  type = string
}

resource "google_dns_record_set" "mail" {
  for_each     = local.mail_records
  managed_zone = var.managed_zone
  name         = each.value.name
  type         = each.value.type
  ttl          = each.value.ttl
  rrdatas      = each.value.values
}`,
}

function singleRows(plan: PlanAnswer): readonly string[] {
  const records = partsOf(plan).flatMap(({ now }) =>
    now.filter(({ action }) => action !== 'remove' && action !== 'keep'),
  )
  return records.map((record, i) => {
    const { name, type, ttl, value } = record
    if (!isPlain(record)) return `    ${comment(leftOut({ name, type, ttl, values: [value] }))}`
    const { content, priority } = contentOf(record)
    return `    ${hcl(keyOf(record, i))} = { name = ${hcl(name)}, type = ${hcl(type)}, ttl = ${ttl}, content = ${hcl(content)}, priority = ${priority} }`
  })
}

function contentOf({ type, value }: PlanRecord): { readonly content: string; readonly priority: string } {
  if (type === 'TXT')
    return {
      content: stringsOf(value)
        .map((octets) => quotedString(octets))
        .join(' '),
      priority: 'null',
    }
  const [preference = '0', exchange = '.'] = value.split(' ')
  const bare = (name: string): string => (name === '.' ? name : name.replace(/\.$/, ''))
  return type === 'MX'
    ? { content: bare(exchange), priority: String(Number(preference)) }
    : { content: bare(value), priority: 'null' }
}

function setRows(plan: PlanAnswer, provider: Exclude<TerraformProvider, 'cloudflare'>): readonly string[] {
  return wholeSets(plan).map((set) => {
    const { name, type, ttl, values, unknown } = set
    if (unknown !== undefined || values.length === 0 || !values.every((value) => isPlain({ name, type, value })))
      return `    ${comment(leftOut(set))}`
    const full = provider === 'google' ? `${name}.` : name
    return `    ${hcl(`${name} ${type}`)} = { name = ${hcl(full)}, type = ${hcl(type)}, ttl = ${ttl}, values = [${values.map((value) => hcl(dataOf(type, value, provider))).join(', ')}] }`
  })
}

/**
 * Route 53 takes a TXT without its outer quotes, its strings divided by `""`, and with octal escapes; Cloud DNS takes
 * all quotes.
 */
function dataOf(type: string, value: string, provider: Exclude<TerraformProvider, 'cloudflare'>): string {
  if (type !== 'TXT') return value
  const strings = stringsOf(value).map((octets) => quotedString(octets, provider === 'google' ? 10 : 8))
  return provider === 'google' ? strings.join(' ') : strings.join('').slice(1, -1)
}

const keyOf = ({ name, type }: PlanRecord, i: number): string => `${i + 1} ${name} ${type}`

/** A string in HCL: `${` and `%{` would begin a template. */
export const hcl = (value: string): string =>
  `"${value
    .replace(/["\\]/g, (char) => `\\${char}`)
    .replace(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replace(/[$%]\{/g, (begin) => `${begin[0]}${begin}`)}"`
