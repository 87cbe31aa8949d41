/** Features that can be active for a tenant. A subject belongs to one feature, or to none and is always available. */
export const features = {
  core: { name: 'Property management', description: 'Reservations, guests, units and housekeeping' },
  financial: { name: 'Financial', description: 'Chart of accounts, payables, receivables and cash' },
  portal: { name: 'Booking portal', description: 'Guests find, book and pay by themselves' },
  payments: { name: 'Payments', description: 'Payments through connected gateway accounts' },
  ocp: { name: 'Communication', description: 'E-mail, SMS and WhatsApp to guests' },
  pos: { name: 'Inventory and point of sale', description: 'Stock, recipes, consumption, outlets and orders' },
  suppliers: { name: 'Suppliers', description: 'Suppliers and purchase orders' },
  api_read: { name: 'API, reading', description: 'API keys may read' },
  api_write: { name: 'API, reading and writing', description: 'API keys may read and write' },
  financial_overview: { name: 'Financial overview', description: 'Consolidated reports over properties and books' },
  sla: { name: 'Service level', description: 'Support and availability under contract' },
  channels: { name: 'Channels', description: 'Connections to channel managers and travel agencies' },
  webhooks: { name: 'Webhooks', description: 'Events delivered to addresses of the tenant' },
} as const satisfies Record<string, { name: string; description: string }>

export type FeatureKey = keyof typeof features
export const isFeature = (key: string): key is FeatureKey => Object.hasOwn(features, key)
