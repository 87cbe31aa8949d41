/** Authorities that forms of guests are reported to: none, or one that speaks our open contract. */
export const authorities = ['none', 'open'] as const
export type Authority = (typeof authorities)[number]

/** Fields of a registration form, in the order in which they are asked for. */
export const formFields = [
  'name',
  'document',
  'birthDate',
  'nationality',
  'residence',
  'occupation',
  'reason',
  'transport',
  'from',
  'to',
] as const
export type FormField = (typeof formFields)[number]

/** Steps of a stay that an authority is told of, in their order. */
export const reportKinds = ['registration', 'check_in', 'check_out', 'cancellation'] as const
export type ReportKind = (typeof reportKinds)[number]
