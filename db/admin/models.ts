import { model } from '../lib/models.ts'

export const Tenant = model('tenant', 'id')
export const Subscription = model('subscription', 'tenantId')
