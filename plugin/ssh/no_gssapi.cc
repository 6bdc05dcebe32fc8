// Debian builds libssh with Kerberos (GSSAPI), which Lima's instances never use: their users log in
// with a key. Where libssh is linked as an archive, its calls end here instead of in six further
// libraries that every start would load, and that a machine need not have. Each says that the
// mechanism is not there (RFC 2744, 3.9.1), with a minor status of 0.

#include <cstdint>

namespace {

using Status = std::uint32_t;

constexpr Status kUnavailable = Status{16} << 16U;

Status SayUnavailable(Status* minor) {
  if (minor != nullptr) *minor = 0;
  return kUnavailable;
}

}  // namespace

// The names, types and parameters of RFC 2744.
// NOLINTBEGIN(readability-identifier-naming,cppcoreguidelines-avoid-non-const-global-variables)
extern "C" {

extern void* const GSS_C_NT_HOSTBASED_SERVICE;
extern void* const GSS_C_NT_USER_NAME;
void* const GSS_C_NT_HOSTBASED_SERVICE = nullptr;
void* const GSS_C_NT_USER_NAME = nullptr;

Status gss_accept_sec_context(Status* minor, void*, void*, void*, void*, void*, void*, void*,
                              Status*, Status*, void*);
Status gss_acquire_cred(Status* minor, void*, Status, void*, int, void*, void*, Status*);
Status gss_add_oid_set_member(Status* minor, void*, void*);
Status gss_create_empty_oid_set(Status* minor, void*);
Status gss_display_name(Status* minor, void*, void*, void*);
Status gss_display_status(Status* minor, Status, int, void*, Status*, void*);
Status gss_get_mic(Status* minor, void*, Status, void*, void*);
Status gss_import_name(Status* minor, void*, void*, void*);
Status gss_indicate_mechs(Status* minor, void*);
Status gss_init_sec_context(Status* minor, void*, void*, void*, void*, Status, Status, void*, void*,
                            void*, void*, Status*, Status*);
Status gss_inquire_cred(Status* minor, void*, void*, Status*, int*, void*);
Status gss_inquire_cred_by_mech(Status* minor, void*, void*, void*, Status*, Status*, int*);
Status gss_release_buffer(Status* minor, void*);
Status gss_release_cred(Status* minor, void*);
Status gss_release_name(Status* minor, void*);
Status gss_release_oid_set(Status* minor, void*);
Status gss_test_oid_set_member(Status* minor, void*, void*, int*);
Status gss_verify_mic(Status* minor, void*, void*, void*, Status*);
}

Status gss_accept_sec_context(Status* minor, void*, void*, void*, void*, void*, void*, void*,
                              Status*, Status*, void*) {
  return SayUnavailable(minor);
}
Status gss_acquire_cred(Status* minor, void*, Status, void*, int, void*, void*, Status*) {
  return SayUnavailable(minor);
}
Status gss_add_oid_set_member(Status* minor, void*, void*) {
  return SayUnavailable(minor);
}
Status gss_create_empty_oid_set(Status* minor, void*) {
  return SayUnavailable(minor);
}
Status gss_display_name(Status* minor, void*, void*, void*) {
  return SayUnavailable(minor);
}
Status gss_display_status(Status* minor, Status, int, void*, Status*, void*) {
  return SayUnavailable(minor);
}
Status gss_get_mic(Status* minor, void*, Status, void*, void*) {
  return SayUnavailable(minor);
}
Status gss_import_name(Status* minor, void*, void*, void*) {
  return SayUnavailable(minor);
}
Status gss_indicate_mechs(Status* minor, void*) {
  return SayUnavailable(minor);
}
Status gss_init_sec_context(Status* minor, void*, void*, void*, void*, Status, Status, void*, void*,
                            void*, void*, Status*, Status*) {
  return SayUnavailable(minor);
}
Status gss_inquire_cred(Status* minor, void*, void*, Status*, int*, void*) {
  return SayUnavailable(minor);
}
Status gss_inquire_cred_by_mech(Status* minor, void*, void*, void*, Status*, Status*, int*) {
  return SayUnavailable(minor);
}
Status gss_release_buffer(Status* minor, void*) {
  return SayUnavailable(minor);
}
Status gss_release_cred(Status* minor, void*) {
  return SayUnavailable(minor);
}
Status gss_release_name(Status* minor, void*) {
  return SayUnavailable(minor);
}
Status gss_release_oid_set(Status* minor, void*) {
  return SayUnavailable(minor);
}
Status gss_test_oid_set_member(Status* minor, void*, void*, int*) {
  return SayUnavailable(minor);
}
Status gss_verify_mic(Status* minor, void*, void*, void*, Status*) {
  return SayUnavailable(minor);
}
// NOLINTEND(readability-identifier-naming,cppcoreguidelines-avoid-non-const-global-variables)
