/** Kinds of task in a unit. */
export const taskKinds = [
  'departure',
  'stayover',
  'pickup',
  'deep',
  'inspection',
  'turndown',
  'maintenance',
  'other',
] as const
export type TaskKind = (typeof taskKinds)[number]
