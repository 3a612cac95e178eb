/** From the least to the most severe; `info` is never a reason to fail. */
export const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const
export type Severity = (typeof SEVERITIES)[number]

/** Whether a severity is at least another; `info` never is. */
export const reaches = (severity: Severity | 'info', least: Severity): boolean =>
  severity !== 'info' && SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(least)
