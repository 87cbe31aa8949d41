import { model } from '../models.ts'
import type { SubscriptionRow, TenantRow } from '../rows.ts'

export const Tenant = model<TenantRow>('tenant', 'id')
export const Subscription = model<SubscriptionRow>('subscription', 'tenantId')
