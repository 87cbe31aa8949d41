export const customerKinds = ['company', 'agency', 'ota', 'person', 'public_body'] as const
export type CustomerKind = (typeof customerKinds)[number]
export const billings = ['per_stay', 'monthly'] as const
export const receivableKinds = ['invoice', 'stay', 'opening'] as const
export type ReceivableKind = (typeof receivableKinds)[number]
export const receivableStatuses = [
  'draft',
  'unbilled',
  'issuing',
  'issued',
  'partly_paid',
  'paid',
  'credited',
  'written_off',
  'consolidated',
  'void',
] as const
export type ReceivableStatus = (typeof receivableStatuses)[number]
