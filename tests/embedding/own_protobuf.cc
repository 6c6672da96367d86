#include <google/protobuf/descriptor.pb.h>

#include <stdexcept>
#include <string>

void use_own_library(const std::string &pieces, const std::string &text);

void use_own_library(const std::string &, const std::string &text)
{
    google::protobuf::FileDescriptorProto written, read;
    written.set_name(text);
    written.add_message_type()->set_name("message");
    if (!read.ParseFromString(written.SerializeAsString()) || read.name() != text) throw std::runtime_error("protobuf");
}
