/** Kinds of business that stays are counted by. */
export const marketSegments = [
  'transient',
  'group',
  'corporate',
  'government',
  'wholesale',
  'long_stay',
  'package',
  'complimentary',
  'house_use',
] as const
