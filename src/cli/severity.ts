/** From the least to the most severe; `info` never causes a failure. */
export const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const
export type Severity = (typeof SEVERITIES)[number]

/** Whether a severity is at least `least`; false for `info`. */
export const reaches = (severity: Severity | 'info', least: Severity): boolean =>
  severity !== 'info' && SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(least)
