import type { LocalText } from './local-text.ts'

export const issueKinds = ['complaint', 'request', 'incident', 'maintenance', 'support'] as const
export type IssueKind = (typeof issueKinds)[number]
export const issueTeams = [
  'receptionist',
  'housekeeper',
  'maintenance',
  'finance',
  'stock',
  'relations',
  'manager',
] as const
export type IssueTeam = (typeof issueTeams)[number]
export const issuePriorities = ['urgent', 'high', 'normal', 'low'] as const
export type IssuePriority = (typeof issuePriorities)[number]
export const issueStatuses = ['open', 'in_progress', 'waiting', 'resolved', 'closed'] as const
export const issueSources = ['staff', 'guest', 'channel', 'system'] as const
export const issueCauses = [
  'property',
  'staff',
  'supplier',
  'system',
  'guest',
  'weather',
  'third_party',
  'none',
] as const
export const issueOutcomes = ['resolved', 'duplicate', 'not_actionable', 'withdrawn'] as const
export const lostCategories = ['electronics', 'clothing', 'jewellery', 'document', 'money', 'bag', 'other'] as const
export const lostOutcomes = [
  'returned',
  'shipped',
  'handed_to_authority',
  'donated',
  'discarded',
  'found_by_owner',
  'not_found',
] as const

/** The hours in which clocks of a category run: around the clock, or in the business hours of the house. */
export const issueHours = ['always', 'business'] as const
export type IssueHours = (typeof issueHours)[number]

/** Minutes, in the hours of the category. */
export type Target = { firstResponseMinutes: number; resolutionMinutes: number }
export type Targets = Record<IssuePriority, Target>

export const usualTargets: Targets = {
  urgent: { firstResponseMinutes: 15, resolutionMinutes: 120 },
  high: { firstResponseMinutes: 30, resolutionMinutes: 240 },
  normal: { firstResponseMinutes: 120, resolutionMinutes: 1_440 },
  low: { firstResponseMinutes: 480, resolutionMinutes: 4_320 },
}

type Category = {
  code: string
  name: LocalText
  kind: IssueKind
  team: IssueTeam
  targets: Targets
  guestFacing: boolean
}
const category = (
  code: string,
  [en, pt, es]: readonly [string, string, string],
  kind: IssueKind,
  team: IssueTeam,
  guestFacing = kind === 'complaint',
): Category => ({ code, name: { en, pt, es }, kind, team, targets: usualTargets, guestFacing })

/** Categories that every tenant starts with. */
export const shippedCategories: readonly Category[] = [
  category('noise', ['Noise', 'Barulho', 'Ruido'], 'complaint', 'receptionist'),
  category('cleanliness', ['Cleanliness', 'Limpeza', 'Limpieza'], 'complaint', 'housekeeper'),
  category('equipment', ['Equipment', 'Equipamento', 'Equipamiento'], 'maintenance', 'maintenance'),
  category('comfort', ['Comfort', 'Conforto', 'Comodidad'], 'complaint', 'receptionist'),
  category('food', ['Food and drink', 'Alimentos e bebidas', 'Comida y bebida'], 'complaint', 'manager'),
  category('staff', ['Staff', 'Equipe', 'Personal'], 'complaint', 'manager'),
  category('billing', ['Billing', 'Cobrança', 'Facturación'], 'support', 'finance'),
  category('booking', ['Booking', 'Reserva', 'Reserva'], 'support', 'receptionist'),
  category('safety', ['Safety', 'Segurança', 'Seguridad'], 'incident', 'manager'),
  category('accessibility', ['Accessibility', 'Acessibilidade', 'Accesibilidad'], 'request', 'receptionist', true),
  category('parking', ['Parking', 'Estacionamento', 'Aparcamiento'], 'request', 'receptionist', true),
  category(
    'lost_property',
    ['Lost property', 'Achados e perdidos', 'Objetos perdidos'],
    'request',
    'receptionist',
    true,
  ),
  category('access', ['Keys and access', 'Chaves e acesso', 'Llaves y acceso'], 'incident', 'receptionist', true),
  category('system', ['Systems', 'Sistemas', 'Sistemas'], 'support', 'manager'),
  category('other', ['Other', 'Outros', 'Otros'], 'request', 'receptionist'),
]
