import type { PlanAnswer } from '../../answers/plan.ts'
import { formatDnscontrol } from './dnscontrol.ts'
import { formatOctodns } from './octodns.ts'
import { formatTerraform, type TerraformProvider } from './terraform.ts'
import { formatZone } from './zone.ts'

/** The files that a plan can be written as, for tools that publish records. */
export const PLAN_FORMATS = ['zone', 'dnscontrol', 'octodns', 'terraform'] as const
type PlanFormat = (typeof PLAN_FORMATS)[number]
export const isPlanFormat = (format: string): format is PlanFormat => PLAN_FORMATS.some((known) => known === format)

/** A plan as the file of a tool. */
export function formatPlan(
  plan: PlanAnswer,
  format: PlanFormat,
  provider: TerraformProvider,
): { readonly contentType: string; readonly text: string } {
  switch (format) {
    case 'zone':
      return { contentType: 'text/dns; charset=utf-8', text: formatZone(plan) } // RFC 4027
    case 'dnscontrol':
      return { contentType: 'text/javascript; charset=utf-8', text: formatDnscontrol(plan) }
    case 'octodns':
      return { contentType: 'application/yaml; charset=utf-8', text: formatOctodns(plan) } // RFC 9512
    case 'terraform':
      return { contentType: 'text/plain; charset=utf-8', text: formatTerraform(plan, provider) }
    default: {
      const never: never = format
      throw new Error(never)
    }
  }
}
