import { Count, Day, Nullable, Obj, OneOf, Uuid } from '../schema.ts'
import { Code, event } from './event.ts'
import type { Event } from './event.ts'

const property = {
  entity: 'property',
  subject: 'Property',
  data: Obj({ code: Code, status: OneOf(['draft', 'live', 'suspended', 'archived']) }),
} as const
export const propertyCreated = event({ type: 'property.created', ...property })
export const propertyChanged = event({ type: 'property.changed', ...property })
export const propertySettingsChanged = event({ type: 'property.settings_changed', ...property })
export const propertyPublished = event({ type: 'property.published', ...property })
export const propertySuspended = event({ type: 'property.suspended', ...property })
export const propertyArchived = event({ type: 'property.archived', ...property })

const taxRule = {
  entity: 'tax_rule',
  subject: 'TaxRule',
  data: Obj({ taxRuleId: Uuid, code: Code, kind: OneOf(['tax', 'fee']), validFrom: Day, validTo: Nullable(Day) }),
} as const
export const taxRuleCreated = event({ type: 'tax_rule.created', ...taxRule })
export const taxRuleChanged = event({ type: 'tax_rule.changed', ...taxRule })
export const taxRuleDeleted = event({ type: 'tax_rule.deleted', ...taxRule })

const policy = {
  entity: 'policy',
  subject: 'Policy',
  data: Obj({ policyId: Uuid, code: Code, kind: OneOf(['cancellation', 'no_show', 'deposit']), number: Count }),
} as const
export const policyCreated = event({ type: 'policy.created', ...policy })
export const policyVersionAdded = event({ type: 'policy.version_added', ...policy })
export const policyArchived = event({ type: 'policy.archived', ...policy })

const extra = { entity: 'extra', subject: 'Extra', data: Obj({ extraId: Uuid, code: Code, category: Code }) } as const
export const extraCreated = event({ type: 'extra.created', ...extra })
export const extraChanged = event({ type: 'extra.changed', ...extra })
export const extraArchived = event({ type: 'extra.archived', ...extra })

const promoCode = { entity: 'promo_code', subject: 'PromoCode', data: Obj({ promoCodeId: Uuid, code: Code }) } as const
export const promoCodeCreated = event({ type: 'promo_code.created', ...promoCode })
export const promoCodeChanged = event({ type: 'promo_code.changed', ...promoCode })
export const promoCodeArchived = event({ type: 'promo_code.archived', ...promoCode })

export const galleryChanged = event({
  type: 'gallery.changed',
  entity: 'property',
  subject: 'GalleryImage',
  data: Obj({ galleryImageId: Nullable(Uuid), unitTypeId: Nullable(Uuid) }),
})

export const galleryImageBroken = event({
  type: 'gallery_image.broken',
  entity: 'gallery_image',
  subject: 'GalleryImage',
  data: Obj({ galleryImageId: Uuid, unitTypeId: Nullable(Uuid) }),
})

export const propertiesEvents: Event[] = [
  propertyCreated,
  propertyChanged,
  propertySettingsChanged,
  propertyPublished,
  propertySuspended,
  propertyArchived,
  taxRuleCreated,
  taxRuleChanged,
  taxRuleDeleted,
  policyCreated,
  policyVersionAdded,
  policyArchived,
  extraCreated,
  extraChanged,
  extraArchived,
  promoCodeCreated,
  promoCodeChanged,
  promoCodeArchived,
  galleryChanged,
  galleryImageBroken,
]
