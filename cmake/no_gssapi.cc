// SPDX-License-Identifier: Apache-2.0
// Stubs for the GSSAPI functions that libssh calls. Debian builds libssh with Kerberos, which
// Lima's instances never use; the stubs save a static build six more libraries. Each reports that
// the mechanism is unavailable (RFC 2744, 3.9.1). Only the first argument is used, so only it is
// declared.

#include <cstdint>

namespace {

using Status = std::uint32_t;

constexpr Status kUnavailable = Status{16} << 16U;

}  // namespace

// NOLINTBEGIN(readability-identifier-naming,cppcoreguidelines-*)
#define UNAVAILABLE(name)             \
  Status name(Status* minor);         \
  Status name(Status* minor) {        \
    if (minor != nullptr) *minor = 0; \
    return kUnavailable;              \
  }                                   \
  static_assert(true)

extern "C" {

extern void* const GSS_C_NT_HOSTBASED_SERVICE;
extern void* const GSS_C_NT_USER_NAME;
void* const GSS_C_NT_HOSTBASED_SERVICE = nullptr;
void* const GSS_C_NT_USER_NAME = nullptr;

UNAVAILABLE(gss_accept_sec_context);
UNAVAILABLE(gss_acquire_cred);
UNAVAILABLE(gss_add_oid_set_member);
UNAVAILABLE(gss_create_empty_oid_set);
UNAVAILABLE(gss_display_name);
UNAVAILABLE(gss_display_status);
UNAVAILABLE(gss_get_mic);
UNAVAILABLE(gss_import_name);
UNAVAILABLE(gss_indicate_mechs);
UNAVAILABLE(gss_init_sec_context);
UNAVAILABLE(gss_inquire_cred);
UNAVAILABLE(gss_inquire_cred_by_mech);
UNAVAILABLE(gss_release_buffer);
UNAVAILABLE(gss_release_cred);
UNAVAILABLE(gss_release_name);
UNAVAILABLE(gss_release_oid_set);
UNAVAILABLE(gss_test_oid_set_member);
UNAVAILABLE(gss_verify_mic);
}
// NOLINTEND(readability-identifier-naming,cppcoreguidelines-*)
