/** Ids of the demo are fixed, so that scripts and readers can name its records. */
const id = (tail: string) => `d0000000-0000-4000-8000-${tail.padStart(12, '0')}`

export const sol = {
  tenantId: id('1'),
  propertyId: id('11'),
  gatewayAccountId: id('12'),
  standard: id('101'),
  deluxe: id('102'),
  /** One unit: the one that everybody wants. */
  master: id('103'),
  flexible: id('201'),
  saver: id('202'),
} as const

export const lua = {
  tenantId: id('2'),
  propertyId: id('21'),
  gatewayAccountId: id('22'),
  bed: id('111'),
  privateRoom: id('112'),
  dorm: id('113'),
  standardPlan: id('211'),
} as const

export const password = 'pousada-demo-2026'

type Person = { id: string; email: string; name: string; role: string; tenants: ('sol' | 'lua')[]; level?: 'N1' | 'N2' }

export const people: Person[] = [
  { id: id('901'), email: 'owner@sol.example', name: 'Olívia Prado', role: 'owner', tenants: ['sol'] },
  { id: id('902'), email: 'manager@sol.example', name: 'Marcos Dias', role: 'manager', tenants: ['sol'] },
  { id: id('903'), email: 'reception@sol.example', name: 'Renata Alves', role: 'receptionist', tenants: ['sol'] },
  { id: id('904'), email: 'finance@sol.example', name: 'Flávio Nunes', role: 'finance', tenants: ['sol'] },
  { id: id('905'), email: 'housekeeping@sol.example', name: 'Helena Souza', role: 'housekeeper', tenants: ['sol'] },
  { id: id('906'), email: 'owner@lua.example', name: 'Otávio Reis', role: 'owner', tenants: ['lua'] },
  { id: id('907'), email: 'both@group.example', name: 'Beatriz Lima', role: 'manager', tenants: ['sol', 'lua'] },
  { id: id('908'), email: 'n1@pousada.example', name: 'Nina Um', role: 'superuser N1', tenants: [], level: 'N1' },
  { id: id('909'), email: 'n2@pousada.example', name: 'Nilo Dois', role: 'superuser N2', tenants: [], level: 'N2' },
]
