import type { FunctionName } from './functions.ts';
import type { ThrottledRoute } from './settings.ts';

export interface Route {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  to: FunctionName;
  /** `jwt`: the gateway checks the token. `signature`: the function checks the caller's signature. `nobody`: it is public. */
  checkedBy: 'jwt' | 'signature' | 'nobody';
  /** Throttled by itself, below the total. */
  throttle?: ThrottledRoute;
}

/** Every way in from outside. */
export const ROUTES: readonly Route[] = [
  { method: 'GET', path: '/v1/campaigns', to: 'catalog', checkedBy: 'nobody' },
  { method: 'GET', path: '/v1/campaigns/{campaign_id}', to: 'catalog', checkedBy: 'nobody' },
  { method: 'GET', path: '/v1/sales/{sale_id}', to: 'catalog', checkedBy: 'nobody' },
  {
    method: 'POST',
    path: '/v1/sales/{sale_id}/challenges',
    to: 'admission',
    checkedBy: 'jwt',
    throttle: 'challenges',
  },
  { method: 'POST', path: '/v1/sales/{sale_id}/tokens', to: 'admission', checkedBy: 'jwt', throttle: 'tokens' },
  { method: 'POST', path: '/v1/sales/{sale_id}/reservations/{token}', to: 'reservation', checkedBy: 'jwt' },
  { method: 'GET', path: '/v1/reservations/{reservation_id}', to: 'reservation', checkedBy: 'jwt' },
  { method: 'DELETE', path: '/v1/reservations/{reservation_id}', to: 'reservation', checkedBy: 'jwt' },
  { method: 'GET', path: '/v1/orders', to: 'reservation', checkedBy: 'jwt' },
  { method: 'POST', path: '/v1/payments/webhook', to: 'payment', checkedBy: 'signature' },
  { method: 'GET', path: '/v1/admin/campaigns', to: 'admin', checkedBy: 'jwt' },
  { method: 'POST', path: '/v1/admin/campaigns', to: 'admin', checkedBy: 'jwt' },
  { method: 'POST', path: '/v1/admin/sales', to: 'admin', checkedBy: 'jwt' },
  { method: 'GET', path: '/v1/admin/sales', to: 'admin', checkedBy: 'jwt' },
  { method: 'GET', path: '/v1/admin/sales/{sale_id}', to: 'admin', checkedBy: 'jwt' },
  { method: 'GET', path: '/v1/admin/sales/{sale_id}/live', to: 'admin', checkedBy: 'jwt' },
  { method: 'POST', path: '/v1/admin/sales/{sale_id}/publish', to: 'admin', checkedBy: 'jwt' },
  { method: 'POST', path: '/v1/admin/sales/{sale_id}/pause', to: 'admin', checkedBy: 'jwt' },
  { method: 'POST', path: '/v1/admin/sales/{sale_id}/resume', to: 'admin', checkedBy: 'jwt' },
  { method: 'POST', path: '/v1/admin/sales/{sale_id}/close', to: 'admin', checkedBy: 'jwt' },
  { method: 'POST', path: '/v1/admin/sales/{sale_id}/restock', to: 'admin', checkedBy: 'jwt' },
  { method: 'POST', path: '/v1/admin/sales/{sale_id}/isolate', to: 'admin', checkedBy: 'jwt' },
  { method: 'POST', path: '/v1/admin/sales/{sale_id}/end_recurrence', to: 'admin', checkedBy: 'jwt' },
  { method: 'GET', path: '/v1/admin/switches', to: 'admin', checkedBy: 'jwt' },
  { method: 'POST', path: '/v1/admin/stop', to: 'admin', checkedBy: 'jwt' },
  { method: 'POST', path: '/v1/admin/start', to: 'admin', checkedBy: 'jwt' },
  { method: 'GET', path: '/v1/admin/denied', to: 'admin', checkedBy: 'jwt' },
  { method: 'POST', path: '/v1/admin/denied', to: 'admin', checkedBy: 'jwt' },
  { method: 'POST', path: '/v1/admin/allow', to: 'admin', checkedBy: 'jwt' },
  { method: 'DELETE', path: '/v1/admin/denied/{user}', to: 'admin', checkedBy: 'jwt' },
  { method: 'POST', path: '/v1/admin/redrive/{queue}', to: 'admin', checkedBy: 'jwt' },
  { method: 'GET', path: '/v1/admin/sales/{sale_id}/rounds/{round}/audit', to: 'admin', checkedBy: 'jwt' },
];
