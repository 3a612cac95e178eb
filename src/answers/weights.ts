import { keysOf } from '../base/json.ts'

/** Increased whenever a weight or a rule of the score changes; it is in every answer with a score. */
export const SCORE_VERSION = 4

/** The points of each component; together 100. */
export const COMPONENTS = { spf: 25, dkim: 20, dmarc: 30, mx: 15, ptr: 10 } as const
export type Component = keyof typeof COMPONENTS

/**
 * The remaining points of a component (`left`), or the deduction (`off`), by observation. docs/score.md has the table
 * as text.
 */
export const WEIGHTS = {
  version: SCORE_VERSION,
  components: COMPONENTS,
  spf: {
    left: { none: 0, none_at_web_name: 15, permerror: 5, names_nobody: 5, everybody: 0 },
    off: {
      neutral_all: 10,
      soft_all: 3,
      ptr: 2,
      very_wide: 10,
      wide: 5,
      equals_sign: 5,
      dead_term: 1,
      long: 1,
      untidy: 1,
    },
    off_provider_missing: { high: 10, medium: 5, low: 1 },
    off_where_dmarc_enforces: { neutral_all: 6, soft_all: 0 },
    very_wide_from_ipv4_addresses: 2 ** 24,
    wide_over_ipv4_addresses: 2 ** 17,
    long_over_bytes: 450,
    cap_of_everybody: 50,
  },
  dkim: { left: { absent: 0, broken: 4 }, off: { short_rsa: 5, testing: 4, ed25519_only: 3 } },
  dmarc: {
    left: { none: 0, unusable: 3 },
    policy: { reject: 27, quarantine: 22, none: 12 },
    off: { pct_partial: 3, pct_0: 5 },
    rua: 2,
    subdomains: 1,
  },
  mx: {
    left: { implicit: 5, none: 0, none_resolvable: 0 },
    off: {
      null_beside_others: 8,
      best_take_none: 8,
      each_unresolvable: 4,
      unresolvable_at_most: 8,
      cname: 3,
      not_public: 6,
      single_address: 1,
      refused_at_some: 8,
      refused_at_all: 15,
      ipv6_only: 8,
    },
  },
  ptr: { address: { confirmed: 10, unconfirmed: 5, none: 0 }, off: { generic: 2, several_names: 1 }, addresses: 10 },
  listing: { A: 15, B: 5, C: 1, D: 0, at_most: 40 },
  grades: { 'A+': 100, A: 90, B: 80, C: 65, D: 50, F: 0 },
  /** The best grade while a finding of this severity is open. */
  best_grade: { critical: 'B', high: 'B', medium: 'A' },
  /** With a wider range between the worst and the best case there is no grade. */
  graded_within_points: 50,
} as const

/** The weight of a blacklist's tier: A most, D nothing. */
export type Tier = 'A' | 'B' | 'C' | 'D'
export type Grade = keyof typeof WEIGHTS.grades

/** The grades, the best first. */
const GRADES = keysOf(WEIGHTS.grades)

/** The grade that points earn, whatever the findings: A+ is 100, A from 90, B from 80, C from 65, D from 50, else F. */
export const earnedGrade = (score: number): Grade => GRADES.find((grade) => score >= WEIGHTS.grades[grade]) ?? 'F'

/** The worst of at least one grade. */
export const worstGrade = (...grades: readonly [Grade, ...Grade[]]): Grade =>
  GRADES[Math.max(...grades.map((grade) => GRADES.indexOf(grade)))]!
