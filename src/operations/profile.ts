import type { CheckAnswer } from '../answers/check.ts'
import type { ProfileAnswer } from '../answers/profile.ts'
import { invalidAt } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import { type Parsed, parsed, problem } from '../base/problem.ts'
import { DOMAIN_PROFILES, PROFILE_NAMES } from '../profiles/domain.ts'
import { profileProblem } from '../profiles/problems.ts'
import { judgeProfile, type Profile, parseOwnProfile } from '../profiles/profile.ts'
import type { Deps } from './deps.ts'
import type { Verdict } from './operation.ts'
import { optional, textParam } from './params.ts'

/**
 * Rules that decide about the exit status: one of these by name, or an own profile as JSON. `otherwise` reads another
 * name; without it one is refused.
 */
export const profileParamOf = <P>(named: ReadonlyMap<string, P>, otherwise?: (name: string) => P) => {
  const known = [...named.keys()]
  return optional(
    textParam<P | Profile<Json>>(
      'invalid_parameter',
      (text): Parsed<P | Profile<Json>> => {
        const one = named.get(text)
        if (one !== undefined) return parsed(one)
        if (text.startsWith('{')) return parseOwnProfile(text)
        return otherwise ? parsed(otherwise(text)) : problem(profileProblem('unknown', { text, known }))
      },
      {
        description: `judge by rules: ${known.join(', ')} or a JSON file`,
        example: known[0]!,
      },
    ),
  )
}

/** A profile of domains, or an operator's own. */
type DomainProfile = { readonly of: 'domain'; readonly profile: Profile<CheckAnswer> } | Profile<Json>
/** One, or the name of an own one that the operator has set. */
type AskedProfile = DomainProfile | { readonly named: string }
export const domainProfileParam = profileParamOf<AskedProfile>(
  new Map(DOMAIN_PROFILES.map((profile) => [profile.name, { of: 'domain', profile } as const])),
  (named) => ({ named }),
)

/** The profile that was asked for; an error for a name that none has. */
export function profileOf(
  asked: AskedProfile | undefined,
  { ownProfiles }: Pick<Deps, 'ownProfiles'>,
): DomainProfile | undefined {
  if (asked === undefined || !('named' in asked)) return asked
  const own = ownProfiles.find(({ name }) => name === asked.named)
  if (own) return own
  const known = [...PROFILE_NAMES, ...ownProfiles.map(({ name }) => name)]
  throw invalidAt('invalid_parameter', 'profile', profileProblem('unknown', { text: asked.named, known }))
}

/** The answer with the profile that was asked for. */
export function withProfile<A extends CheckAnswer>(answer: A, profile: DomainProfile | undefined): A {
  if (profile === undefined) return answer
  const judged = 'of' in profile ? judgeProfile(profile.profile, answer) : judgeProfile(profile, jsonOf(answer))
  return { ...answer, profile: judged }
}

export const jsonOf = (answer: object): Json => JSON.parse(JSON.stringify(answer))

/** Bad: a rule is not met beside what is accepted; unclear: one is unknown and none unmet. Undefined without a profile. */
export function profileVerdict(profile: ProfileAnswer | undefined): Verdict | undefined {
  if (profile === undefined) return undefined
  if (profile.rules.some(({ status, accepted }) => status === 'not_met' && accepted === undefined)) return 'bad'
  return profile.unknown > 0 ? 'unclear' : 'good'
}
